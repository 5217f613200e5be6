// causal-one-ahead: a query sees one key of the future.
#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"

namespace qkv::faults {

/// Hides j > i + offset + 1: the triangle with one diagonal too many.
std::vector<Variant> causal_one_ahead(const Case& the_case) {
  std::vector<Variant> variants;
  if (!the_case.problem.visibility.causal) return variants;
  add_rule_mistake(
      the_case,
      [](Visibility<double>& v) {
        for (long long& offset : v.offset) ++offset;
      },
      "your code lets each query see one key of the future",
      "end at the diagonal: tril(0) keeps, triu(1) hides, j = i + 1 is hidden", variants);
  return variants;
}

}  // namespace qkv::faults
