// causal-missing: keys of the future are not hidden.
#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/rules.hpp"

namespace qkv::faults {

/// Without the causal rule; with a window also without both, and without the right side of a window
/// that is closed there.
std::vector<Variant> causal_missing(const Case& the_case) {
  const Visibility<double>& visibility = the_case.problem.visibility;
  std::vector<Variant> variants;
  const std::string message = "your code lets queries see keys of the future",
                    fix =
                        "hide the keys j > i before the softmax, or leave --causal away if "
                        "every key may be seen";
  if (visibility.causal) {
    for (const RuleSet& rules :
         together({.causal = true, .window = visibility.window.has_value()})) {
      if (!rules.causal) continue;
      add_rule_mistake(
          the_case, [rules](Visibility<double>& v) { v = without(v, rules); },
          rules.window ? message + ", and has no window either" : message, fix, variants);
    }
  } else if (visibility.window && visibility.window->right == 0) {
    add_rule_mistake(
        the_case,
        [](Visibility<double>& v) {
          if (v.window) v.window->right = -1;
        },
        message, "hide the keys after the query's own position: --window LEFT,0", variants);
  }
  return variants;
}

}  // namespace qkv::faults
