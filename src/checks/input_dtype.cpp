// input.dtype: every tensor of numbers has a float type.
#include <algorithm>
#include <string>
#include <vector>

#include "checks.hpp"
#include "given.hpp"
#include "qkv/base/text.hpp"
#include "rows.hpp"

namespace qkv::checks {

/// Types of x, context, q, k, v, cache, weights and biases. Integers compute the same numbers here,
/// but elsewhere they mean ids, or arithmetic that wraps: a warning.
template <class T>
CheckResult input_dtype(const Evidence<T>& evidence) {
  std::size_t looked = 0;
  std::vector<std::string> odd, types;
  CheckResult result{.stage = "inputs", .status = Status::pass};
  bool activation = false;
  for (const Given& input : given(evidence.inputs)) {
    if (input.role == Role::mask || input.role == Role::rule) continue;
    ++looked;
    const std::string type(name(input.named->array.dtype));
    if (std::ranges::find(types, type) == types.end()) types.push_back(type);
    if (is_float(input.named->array.dtype)) continue;
    if (odd.empty()) result.stage = input.named->where;
    activation = activation || input.role == Role::activation;
    odd.push_back(input.named->where + " is " + type);
  }
  if (looked == 0) return skipped("inputs", "needs the input files");
  if (odd.empty()) {
    result.message = listed(types) + (types.size() > 1 ? " mixed" : "");
    return result;
  }
  result.status = Status::warn;
  result.value = static_cast<double>(odd.size());
  result.limit = 0;
  result.message = listed(odd) + ", expected a float type";
  result.hint = activation
                    ? "token ids must be embedded first; other integers should be saved as float32"
                    : "save them as float32";
  return result;
}

template CheckResult input_dtype(const Evidence<float>&);
template CheckResult input_dtype(const Evidence<double>&);

}  // namespace qkv::checks
