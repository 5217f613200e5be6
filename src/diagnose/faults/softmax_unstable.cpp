// softmax-unstable: no row maximum is subtracted, so that exp overflows or vanishes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnose/faults.hpp"
#include "half.hpp"
#include "softmax_over.hpp"
#include "yours.hpp"

namespace qkv::faults {

namespace {

using Exp = double (*)(double);

double exp_in_float32(double x) { return std::exp(static_cast<float>(x)); }
double exp_in_float16(double x) { return float16.rounded(std::exp(x)); }

/// e^x / sum e^x as it comes, in a type with this exp and this largest number. Rows that see no key
/// stay as they are: their weights are another matter.
Tensor<double, 4> plain_softmax(const Held& held, const Tensor<double, 4>& right, Exp exp,
                                double greatest) {
  const Tensor<double, 4>& logits = held.logits();
  auto attn = right.clone();
  for (std::size_t b = 0; b < attn.size(0); ++b) {
    for (std::size_t h = 0; h < attn.size(1); ++h) {
      for (std::size_t l = 0; l < attn.size(2); ++l) {
        if (held.problem().visibility.empty_row(b, h, l)) continue;
        const auto x = logits.row(b, h, l);
        const auto a = attn.row(b, h, l);
        const Tensor<double, 1>& sinks = held.problem().sinks;
        double sum = h < sinks.size() ? exp(sinks(h)) : 0;
        for (std::size_t s = 0; s < a.size(); ++s) {
          a[s] = exp(x[s]);
          sum += a[s];
        }
        if (sum > greatest) sum = std::numeric_limits<double>::infinity();
        for (double& weight : a) weight /= sum;
      }
    }
  }
  return attn;
}

}  // namespace

std::vector<Variant> softmax_unstable(const Case& the_case) {
  const std::string is = yours(the_case, "attn");
  const std::string fix =
      "subtract the row's greatest logit before exp: exp(x - x.max(axis=-1, keepdims=True))";
  const auto float32_softmax = [](const Held& held, const Tensor<double, 4>& right) {
    return plain_softmax(held, right, exp_in_float32, std::numeric_limits<float>::max());
  };

  std::vector<Variant> variants;
  if (gave_non_finite(the_case)) {
    variants.push_back({[=](Alteration& alteration) { alteration.edit("attn", float32_softmax); },
                        is + " exp(x)/sum exp(x) as it stands: exp overflows float32 above 88.7, "
                             "and inf/inf is NaN",
                        fix});
    variants.push_back({[](Alteration& alteration) {
                          alteration.eps = std::max(alteration.eps, float16.eps());
                          alteration.edit(
                              "attn", [](const Held& held, const Tensor<double, 4>& right) {
                                return plain_softmax(held, right, exp_in_float16, float16.greatest);
                              });
                        },
                        is + " exp(x)/sum exp(x) as it stands: exp overflows float16 above 11.1, "
                             "and inf/inf is NaN",
                        fix});
  }
  // Rows of very negative logits: 0/0, which a guarded division makes 0.
  variants.push_back(
      {[=](Alteration& alteration) {
         alteration.edit("attn", [=](const Held& held, const Tensor<double, 4>& right) {
           return without_nan(float32_softmax(held, right), 0);
         });
       },
       is +
           " exp(x)/sum exp(x) without the row's own greatest logit: where every exp is 0, the row "
           "loses its weights",
       fix});
  return variants;
}

}  // namespace qkv::faults
