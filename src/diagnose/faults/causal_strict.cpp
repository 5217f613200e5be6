// causal-strict: a query does not see itself.
#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"

namespace qkv::faults {

/// Hides j >= i + offset: the triangle without its diagonal.
std::vector<Variant> causal_strict(const Case& the_case) {
  std::vector<Variant> variants;
  if (!the_case.problem.visibility.causal) return variants;
  add_rule_mistake(
      the_case,
      [](Visibility<double>& v) {
        for (long long& offset : v.offset) --offset;
      },
      "your code hides the query's own key besides those of the future",
      "keep the diagonal: tril(0) keeps, triu(1) hides, j > i is hidden and j = i is not",
      variants);
  return variants;
}

}  // namespace qkv::faults
