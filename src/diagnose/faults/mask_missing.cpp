// mask-missing: the mask, the padding or the lengths are not applied.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rules.hpp"

namespace qkv::faults {

/// What the user's tensors say is left out; what follows from positions (causal, window) stays.
std::vector<Variant> mask_missing(const Case& the_case) {
  const RuleSet all = rules_of(the_case.problem.visibility);
  std::vector<Variant> variants;
  for (const RuleSet& rules :
       together({.mask = all.mask, .padding = all.padding, .lengths = all.lengths})) {
    variants.push_back(
        {[rules](Alteration& a) { a.problem.visibility = without(a.problem.visibility, rules); },
         "your weights are those of scores without " + words(rules),
         "apply " + words(rules) + " to the scores before the softmax"});
  }
  return variants;
}

}  // namespace qkv::faults
