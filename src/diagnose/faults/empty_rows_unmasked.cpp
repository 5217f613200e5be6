// empty-rows-unmasked: a query that sees no key gets the weights it would have without a mask.
#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/rules.hpp"

namespace qkv::faults {

/// A finite number added to every score of a row changes nothing, as long as the type is fine
/// enough to keep the scores beside it.
std::vector<Variant> empty_rows_unmasked(const Case& the_case) {
  if (!has_empty_row(the_case.problem.visibility)) return {};
  return {{[](Alteration& a) { set_empty_rows(a, EmptyWeights::unmasked); },
           "your code gives queries that see no key the weights of the unmasked scores: a finite "
           "fill was added to all of them alike",
           "fill with -inf in place of a number, and set such rows to 0 after the softmax"}};
}

}  // namespace qkv::faults
