// mask-multiplied: the scores are multiplied by a 0/1 mask.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rules.hpp"
#include "qkv/attention/mask.hpp"

namespace qkv::faults {

namespace {

/// The scores with a 0 in place of hidden ones (or of visible ones), then the other rules.
StageEdit multiplied(const Tensor<std::uint8_t, 4>& hidden, bool zero_is_hidden) {
  return [hidden, zero_is_hidden](const Held& held, const Tensor<double, 4>& right) {
    const Tensor<double, 4>& x = held.unmasked();
    if (!fits(x, held.problem().visibility) || !broadcasts(hidden, x)) return right;
    const auto product =
        filled<double>(x.sizes(), [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
          const bool hides = broadcast(hidden, b, h, i, j) != 0;
          return hides == zero_is_hidden ? 0 * x(b, h, i, j) : x(b, h, i, j);
        });
    return mask(product, held.problem().visibility);
  };
}

/// True where masked was given, and has a number at a key that should have become 0. What is far
/// below 0 is the fill of another rule.
bool refuted(const Case& the_case, const Tensor<std::uint8_t, 4>& hidden, bool zero_is_hidden) {
  constexpr double no_fill = -100;
  const auto found = the_case.got.find("masked");
  if (found == the_case.got.end() || !found->second.fits) return false;
  const Tensor<double, 4>& masked = found->second.value;
  for (std::size_t i = 0; i < masked.size(2); ++i) {
    for (std::size_t j = 0; j < masked.size(3); ++j) {
      const bool becomes_zero = (broadcast(hidden, 0, 0, i, j) != 0) == zero_is_hidden;
      const double x = masked(std::size_t{0}, std::size_t{0}, i, j);
      if (becomes_zero && x != 0 && x > no_fill) return true;
    }
  }
  return false;
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
    const auto hidden_here = hidden_by(only(the_case.problem.visibility, rules));
    for (const bool zero_is_hidden : {true, false}) {
      if (!zero_is_hidden && !ones_hide) continue;
      if (refuted(the_case, hidden_here, zero_is_hidden)) continue;
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
