// input.range: no input is constant, and none is absurdly large or small.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "checks.hpp"
#include "given.hpp"
#include "qkv/base/text.hpp"
#include "qkv/tensor/stats.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

/// Activations and weights are of the order of 1; even untamed ones stay below this. The square,
/// which scores are made of, is beyond float16.
constexpr double absurdly_large = 1e4;
/// Below this every score is 0 for the softmax in float: exp(1e-12) = 1.
constexpr double absurdly_small = 1e-6;
/// Fewer elements may well be equal by chance.
constexpr std::size_t tiny = 4;

/// What is odd about the values, "" where nothing is.
std::string odd_range(const Stats& stats, Role role) {
  const double largest = std::max(std::abs(stats.min), std::abs(stats.max));
  if (largest > absurdly_large) return "reaches " + short_number(largest);
  if (role == Role::bias) return {};  // a bias of zeros is how a bias begins
  if (stats.finite > tiny && stats.min == stats.max)
    return "is " + short_number(stats.min) + " throughout";
  if (stats.finite > tiny && largest < absurdly_small)
    return "stays below " + short_number(largest);
  return {};
}

}  // namespace

/// Greatest |value| over activations, weights and biases, and none of them constant: a warning
/// where not, since such tensors may be meant.
template <class T>
CheckResult input_range(const Evidence<T>& evidence) {
  std::size_t looked = 0;
  double largest = 0;
  std::vector<std::string> odd;
  bool large = false;
  CheckResult result{.stage = "inputs", .status = Status::pass};
  for (const Given& input : given(evidence.inputs)) {
    if (input.role == Role::mask || input.role == Role::rule) continue;
    const Stats stats = stats_of(input.named->array);
    if (stats.finite == 0) continue;
    if (stats.finite > tiny) ++looked;
    largest = std::max({largest, std::abs(stats.min), std::abs(stats.max)});
    const std::string what = odd_range(stats, input.role);
    if (what.empty()) continue;
    if (odd.empty()) result.stage = input.named->where;
    large = large || largest > absurdly_large;
    odd.push_back(input.named->where + " " + what);
  }
  if (looked == 0 && odd.empty()) {
    return skipped("inputs",
                   evidence.inputs == nullptr
                       ? "needs the input files"
                       : "no input has more than " + std::to_string(tiny) + " finite values");
  }
  result.value = largest;
  result.limit = absurdly_large;
  if (odd.empty()) {
    result.message = "greatest value " + short_number(largest) + " (limit " +
                     short_number(absurdly_large) + "), none constant";
    return result;
  }
  result.status = Status::warn;
  result.message = listed(odd);
  result.hint = large
                    ? "products of such numbers leave float16 at 65504 and saturate the softmax: "
                      "normalise the input"
                    : "a constant or vanishing tensor makes all scores alike: was it ever filled?";
  return result;
}

template CheckResult input_range(const Evidence<float>&);
template CheckResult input_range(const Evidence<double>&);

}  // namespace qkv::checks
