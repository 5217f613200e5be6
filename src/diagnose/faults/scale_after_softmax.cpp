// scale-after-softmax: the weights are scaled after the softmax.
#include "after_scaled.hpp"
#include "diagnose/faults.hpp"
#include "qkv/attention/scale.hpp"
#include "qkv/base/text.hpp"
#include "scale_words.hpp"
#include "yours.hpp"

namespace qkv::faults {

namespace {

void multiply_weights(Alteration& alteration, double factor) {
  alteration.edit("attn", [factor](const Held&, const Tensor<double, 4>& right) {
    return scale(right, factor);
  });
}

}  // namespace

std::vector<Variant> scale_after_softmax(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (same_scale(problem.scale, 1)) return {};
  const std::string sums = "every row sums to " + short_number(problem.scale);
  const std::string late = yours(the_case, "attn") +
                           " the softmax of unscaled scores, scaled "
                           "afterwards: " +
                           sums;
  const std::string fix = how_to_scale(problem) + " before the softmax, not the weights after it";

  std::vector<Variant> variants;
  variants.push_back({[](Alteration& alteration) {
                        multiply_weights(alteration, alteration.problem.scale);
                        alteration.problem.scale = 1;
                      },
                      late, fix});
  if (the_case.got.contains("scaled")) {
    variants.push_back({[](Alteration& alteration) {
                          feed_after_scaled(alteration,
                                            [](const Held& held) { return held.at("scores"); });
                          multiply_weights(alteration, alteration.problem.scale);
                        },
                        late, fix});
  }
  variants.push_back(
      {[](Alteration& alteration) { multiply_weights(alteration, alteration.problem.scale); },
       yours(the_case, "attn") + " the right softmax, scaled once more afterwards: " + sums,
       "leave the weights as the softmax made them: scores are scaled before it"});
  return variants;
}

}  // namespace qkv::faults
