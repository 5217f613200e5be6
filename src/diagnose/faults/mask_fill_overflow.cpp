// mask-fill-overflow: the fill became infinite, and infinity times 0 is NaN where keys are visible.
#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/rules.hpp"

namespace qkv::faults {

namespace {

bool shows_nan_from_masked_on(const Case& the_case) {
  const auto masked = the_case.got.find("masked");
  if (masked != the_case.got.end() && !masked->second.value.empty()) {
    return std::ranges::any_of(masked->second.value.elements(),
                               [](double v) { return std::isnan(v); });
  }
  return shows_nan(the_case);
}

}  // namespace

/// masked = scores*keep - fill*(1 - keep), or scores + (1 - keep)*fill, with a fill that the type
/// cannot hold (1e10 in float16): NaN at the keys that are visible, -Inf at those that are not.
std::vector<Variant> mask_fill_overflow(const Case& the_case) {
  std::vector<Variant> variants;
  if (!shows_nan_from_masked_on(the_case)) return variants;
  for (const RuleSet& rules : together(rules_of(the_case.problem.visibility))) {
    add_rule_mistake(
        the_case,
        [rules](Visibility<double>& v) {
          add_in_place_of(v, rules, std::numeric_limits<double>::quiet_NaN(),
                          -std::numeric_limits<double>::infinity());
        },
        "NaN exactly where " + words(rules) +
            " lets keys through: the fill overflowed, and infinity times 0 is NaN",
        "set hidden scores with where(keep, scores, -inf), or take a fill that the type can hold "
        "(-6e4 in float16)",
        variants);
  }
  return variants;
}

}  // namespace qkv::faults
