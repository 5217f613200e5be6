// Running the checks of the list.
#include "qkv/checks/check.hpp"

#include <algorithm>
#include <type_traits>

#include "qkv/base/parallel.hpp"

namespace qkv {

std::string_view name(Status status) {
  switch (status) {
    case Status::pass:
      return "pass";
    case Status::warn:
      return "warn";
    case Status::fail:
      return "fail";
    case Status::skip:
      return "skip";
  }
  return "?";
}

template <class T>
CheckResult run_check(const Check& check, const Evidence<T>& evidence) {
  CheckResult result;
  if constexpr (std::is_same_v<T, float>) {
    result = check.run_float(evidence);
  } else {
    result = check.run_double(evidence);
  }
  result.id = check.id;
  result.step = check.step;
  return result;
}

template <class T>
std::vector<CheckResult> run_checks(const Evidence<T>& evidence, std::size_t threads) {
  const std::span<const Check> checks = check_list();
  std::vector<CheckResult> results(checks.size());
  // The longest first, so that no thread is left alone with it.
  const auto longest = static_cast<std::size_t>(
      std::ranges::find(checks, "softmax.recompute", &Check::id) - checks.begin());
  parallel(threads, checks.size(), [&](std::size_t item, std::size_t) {
    const std::size_t n = (longest + item) % checks.size();
    results[n] = run_check(checks[n], evidence);
  });
  return results;
}

template CheckResult run_check(const Check&, const Evidence<float>&);
template CheckResult run_check(const Check&, const Evidence<double>&);
template std::vector<CheckResult> run_checks(const Evidence<float>&, std::size_t);
template std::vector<CheckResult> run_checks(const Evidence<double>&, std::size_t);

}  // namespace qkv
