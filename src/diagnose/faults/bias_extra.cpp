// bias-extra: one vector is added to every row of q, k, v or out, and no bias that was given is it.
#include <cmath>

#include "diagnose/faults.hpp"
#include "diagnose/faults/follow.hpp"
#include "diagnose/faults/rules.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

/// By how much each channel of `own` is above that of `right`, (1,H,1,.): the mean over batch and
/// positions.
Tensor<double, 4> mean_differences(const Tensor<double, 4>& own, const Tensor<double, 4>& right) {
  auto bias = Tensor<double, 4>::make({1, right.size(1), 1, right.size(3)});
  const auto rows = static_cast<double>(right.size(0) * right.size(2));
  for (std::size_t b = 0; b < right.size(0); ++b) {
    for (std::size_t h = 0; h < right.size(1); ++h) {
      for (std::size_t l = 0; l < right.size(2); ++l) {
        for (std::size_t d = 0; d < right.size(3); ++d)
          bias(0, h, 0, d) += (own(b, h, l, d) - right(b, h, l, d)) / rows;
      }
    }
  }
  return bias;
}

Variant variant(const Case& the_case, const std::string& stage, const Tensor<double, 4>& bias) {
  Variant made;
  made.apply = [stage, bias](Alteration& a) {
    a.edit(stage, [bias](const Held&, const Tensor<double, 4>& right) {
      if (!broadcasts(bias, right)) return right;
      return filled<double>(right.sizes(), [&](auto b, auto h, auto l, auto d) {
        return right(b, h, l, d) + broadcast(bias, b, h, l, d);
      });
    });
  };
  made.message = "your " + stage + " is off by one vector in every row (" +
                 short_number(bias.data()[0]) + " in channel 0), as by a bias that was not given";
  if (stage == "k" && !the_case.problem.settings.rope_base)
    made.message += "; it shifts whole rows of scores and changes nothing after the softmax";
  made.fix = "give that bias as b" + std::string(stage == "out" ? "o" : stage) +
             ", or leave it out of your code";
  return made;
}

}  // namespace

std::vector<Variant> bias_extra(const Case& the_case) {
  const Sizes& sizes = the_case.problem.sizes;
  std::vector<Variant> variants;
  for (const std::string stage : {"q", "k", "v", "out"}) {
    if (stage == "out" && !sizes.has_wo) continue;
    const Tensor<double, 4>* own = given(the_case, stage);
    if (own == nullptr) continue;
    const Tensor<double, 4> right = follow(the_case, stage).made.at(stage);
    // A single row is off by some vector, whatever was done.
    if (right.sizes() != own->sizes() || right.size(0) * right.size(2) < 2 || right.size(3) == 0)
      continue;
    const Tensor<double, 4> bias = mean_differences(*own, right);
    if (std::isfinite(bias.data()[0])) variants.push_back(variant(the_case, stage, bias));
  }
  return variants;
}

}  // namespace qkv::faults
