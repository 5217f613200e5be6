// mask-multiplied: the scores are multiplied by a 0/1 mask.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rules.hpp"
#include "qkv/attention/mask.hpp"

namespace qkv::faults {

namespace {

/// The scores with a 0 in place of hidden ones (or of visible ones), then the other rules.
StageEdit multiplied(const Tensor<std::uint8_t, 4>& hidden, bool zero_is_hidden) {
  return [hidden, zero_is_hidden](const Held& held, const Tensor<double, 4>&) {
    const Tensor<double, 4>& x = held.unmasked();
    const auto product =
        filled<double>(x.sizes(), [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
          const bool hides = broadcast(hidden, b, h, i, j) != 0;
          return hides == zero_is_hidden ? 0 * x(b, h, i, j) : x(b, h, i, j);
        });
    return mask(product, held.problem().visibility);
  };
}

}  // namespace

/// masked = scores*keep: a hidden score becomes 0, which is a score like others, and its weight
/// e^0/sum. Where True means hide, the mask itself may have been the factor.
std::vector<Variant> mask_multiplied(const Case& the_case) {
  const Settings& settings = the_case.problem.settings;
  std::vector<Variant> variants;
  for (const RuleSet& rules : together(rules_of(the_case.problem.visibility))) {
    const bool ones_hide = (rules.mask && settings.mask_true == MaskTrue::hide) ||
                           (rules.padding && settings.padding_true == MaskTrue::hide);
    for (const bool zero_is_hidden : {true, false}) {
      if (!zero_is_hidden && !ones_hide) continue;
      variants.push_back(
          {[rules, zero_is_hidden](Alteration& a) {
             const auto hidden = hidden_by(only(a.problem.visibility, rules));
             a.problem.visibility = without(a.problem.visibility, rules);
             a.edit("masked", multiplied(hidden, zero_is_hidden));
           },
           "your code multiplies the scores by " + words(rules) + ": a score of 0 hides nothing",
           "set hidden scores to -inf: where(keep, scores, -inf), not scores*keep"});
    }
  }
  return variants;
}

}  // namespace qkv::faults
