// empty-rows-nan: a query that sees no key gets NaN.
#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/rules.hpp"

namespace qkv::faults {

/// The softmax of a row of -Inf is 0/0.
std::vector<Variant> empty_rows_nan(const Case& the_case) {
  const Visibility<double>& visibility = the_case.problem.visibility;
  if (visibility.empty_rows == EmptyRows::nan || !has_empty_row(visibility)) return {};
  return {{[](Alteration& a) { set_empty_rows(a, EmptyWeights::nan); },
           "your code gives NaN to queries that see no key: the softmax of -inf alone",
           "set such rows to 0 after the softmax; as a convention this is --empty-rows nan "
           "(torch-mha)"}};
}

}  // namespace qkv::faults
