// mask-bool-added: a 0/1 mask is added to the scores.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rules.hpp"

namespace qkv::faults {

namespace {

/// Where the user's own tensor has its ones: at hidden keys, or at visible ones.
bool ones_hide(const Case& the_case, const RuleSet& rules) {
  const Settings& settings = the_case.problem.settings;
  return (rules.mask && settings.mask_true == MaskTrue::hide) ||
         (rules.padding && settings.padding_true == MaskTrue::hide);
}

}  // namespace

/// masked = scores + keep, or scores + hide: a bool or 0/1 mask turned into floats. Nothing is
/// hidden; the ones gain a factor e over the zeros.
std::vector<Variant> mask_bool_added(const Case& the_case) {
  std::vector<Variant> variants;
  for (const RuleSet& rules : together(rules_of(the_case.problem.visibility))) {
    const bool given = ones_hide(the_case, rules);
    for (const bool hide : {given, !given}) {
      variants.push_back({[rules, hide](Alteration& a) {
                            add_in_place_of(a.problem.visibility, rules, hide ? 0 : 1,
                                            hide ? 1 : 0);
                          },
                          "your code adds " + words(rules) + " to the scores as 0 and 1 (1 where " +
                              (hide ? "hidden" : "visible") + "), which hides nothing",
                          "add 0 where a key is visible and -inf where it is hidden"});
    }
  }
  return variants;
}

}  // namespace qkv::faults
