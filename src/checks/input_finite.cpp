// input.finite: no input holds NaN or Inf.
#include <cmath>
#include <string>
#include <vector>

#include "checks.hpp"
#include "given.hpp"
#include "qkv/base/text.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

struct NonFinite {
  std::size_t nan = 0, inf = 0, first = 0;
  double value = 0;  ///< the first one
  std::size_t count() const { return nan + inf; }
};

/// In a mask -Inf means hidden and is as it should be; so it is in padding written that way.
NonFinite non_finite(const Given& input) {
  const bool hides = input.role == Role::mask || input.role == Role::rule;
  NonFinite found;
  for_each_piece(input.named->array, [&](std::size_t position, std::span<const double> piece) {
    for (const double value : piece) {
      if (!std::isfinite(value) && !(hides && value < 0)) {
        if (found.count() == 0) {
          found.first = position;
          found.value = value;
        }
        ++(std::isnan(value) ? found.nan : found.inf);
      }
      ++position;
    }
  });
  return found;
}

std::string count_text(const NonFinite& found) {
  std::vector<std::string> counts;
  if (found.nan > 0) counts.push_back(std::to_string(found.nan) + " NaN");
  if (found.inf > 0) counts.push_back(std::to_string(found.inf) + " Inf");
  return listed(counts);
}

}  // namespace

/// Counts of NaN and Inf in every input with a float type; the first file that has any is named
/// with its first index.
template <class T>
CheckResult input_finite(const Evidence<T>& evidence) {
  std::size_t looked = 0, bad_elements = 0;
  std::vector<std::string> bad;
  CheckResult result{.stage = "inputs", .status = Status::pass};
  for (const Given& input : given(evidence.inputs)) {
    const Array& array = input.named->array;
    if (!is_float(array.dtype) || element_count(array.shape) == 0) continue;
    ++looked;
    const NonFinite found = non_finite(input);
    if (found.count() == 0) continue;
    bad_elements += found.count();
    if (bad.empty()) {
      result.stage = input.named->where;
      result.at = index_of(found.first, array.shape);
    }
    bad.push_back(input.named->where + " (" + count_text(found) + ", first " +
                  number_text(found.value) + " at " +
                  index_text(index_of(found.first, array.shape)) + ")");
  }
  if (looked == 0) {
    return skipped("inputs", evidence.inputs == nullptr ? "needs the input files"
                                                        : "no input has a float type");
  }
  result.value = static_cast<double>(bad_elements);
  result.limit = 0;
  if (bad.empty()) {
    result.message = "0 NaN or Inf in " + std::to_string(looked) + " inputs";
    return result;
  }
  result.status = Status::fail;
  result.message = "not finite: " + listed(bad);
  result.hint = "what follows cannot be finite either: mend these inputs first";
  return result;
}

template CheckResult input_finite(const Evidence<float>&);
template CheckResult input_finite(const Evidence<double>&);

}  // namespace qkv::checks
