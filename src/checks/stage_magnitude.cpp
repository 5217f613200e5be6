// stage.magnitude: the scale is there once, and attn*v stays within the range of v.
#include <algorithm>
#include <string>
#include <vector>

#include "checks.hpp"
#include "magnitude.hpp"

namespace qkv::checks {

namespace {

/// fail before warn before pass before skip
int weight_of(Status status) {
  switch (status) {
    case Status::fail:
      return 3;
    case Status::warn:
      return 2;
    case Status::pass:
      return 1;
    case Status::skip:
      break;
  }
  return 0;
}

}  // namespace

/// The gravest of three answers; where all that could be asked is well, all of them in one line.
template <class T>
CheckResult stage_magnitude(const Evidence<T>& evidence) {
  const std::vector<CheckResult> answers = {spread_of_scaled(evidence), scale_applied(evidence),
                                            heads_within_values(evidence)};
  CheckResult result = *std::ranges::max_element(
      answers, {}, [](const CheckResult& answer) { return weight_of(answer.status); });
  if (result.status == Status::fail || result.status == Status::warn) return result;
  std::string message;
  for (const CheckResult& answer : answers) {
    if (answer.status != result.status) continue;
    message += (message.empty() ? "" : "; ") + answer.message;
  }
  result.message = message;
  return result;
}

template CheckResult stage_magnitude(const Evidence<float>&);
template CheckResult stage_magnitude(const Evidence<double>&);

}  // namespace qkv::checks
