// softmax.uniform: the weights of a query are not all equal.
#include <algorithm>
#include <cmath>

#include "checks.hpp"
#include "qkv/base/text.hpp"
#include "rounding.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

template <class T>
bool all_zero(const Tensor<T, 4>& tensor) {
  return !tensor.empty() &&
         std::ranges::all_of(tensor.elements(), [](T value) { return value == 0; });
}

/// True where all keys of each head are the same vector.
template <class T>
bool keys_identical(const Tensor<T, 4>& k) {
  if (k.empty() || k.size(2) == 0) return false;
  for (std::size_t b = 0; b < k.size(0); ++b) {
    for (std::size_t g = 0; g < k.size(1); ++g) {
      for (std::size_t j = 1; j < k.size(2); ++j) {
        if (!std::ranges::equal(k.row(b, g, j), k.row(b, g, 0))) return false;
      }
    }
  }
  return true;
}

template <class T>
std::string uniform_hint(const Evidence<T>& evidence) {
  if (all_zero(evidence.q)) return "q is all zero, so every score is 0";
  if (all_zero(evidence.k)) return "k is all zero, so every score is 0";
  if (keys_identical(evidence.k))
    return "all keys are the same vector, so no score differs from another";
  return "the scores hardly differ along a row: is the scale far too small, or a finite fill so "
         "low "
         "that it swallowed them?";
}

}  // namespace

/// Greatest departure |n*attn[b,h,i,j] - 1| from the equal weights 1/n, over the queries that see
/// n > 1 keys.
template <class T>
CheckResult softmax_uniform(const Evidence<T>& evidence) {
  if (const std::string why = attn_missing(evidence); !why.empty()) return skipped("attn", why);
  const std::size_t S = evidence.attn.size(3);
  // Equal scores give equal weights; 1/n itself is off by what the sum of a row may be.
  const double tolerance = sum_tolerance(rounding_of(evidence), S);
  Sight<T> sight(evidence);
  Worst worst;
  for_each_row(evidence.attn, [&](std::size_t b, std::size_t h, std::size_t i, auto row) {
    const std::size_t seen = sight.look(b, h, i, S);
    if (seen < 2) return;
    if (!sight.ruled()) {
      const auto excess = [&](std::size_t j, double bound) {
        const auto weight = static_cast<double>(row[j]);
        return !(std::abs(weight * static_cast<double>(seen) - 1) <= bound);
      };
      // Whether any is off shows in the worst of them: the limit does not matter here.
      if (worst.pass_row(S, HUGE_VAL, excess)) return;
    }
    for (std::size_t j = 0; j < S; ++j) {
      if (sight.hidden(j)) continue;
      const double weight = static_cast<double>(row[j]);
      worst.see(std::abs(weight * static_cast<double>(seen) - 1), tolerance, b, h, i, j);
    }
  });
  if (worst.judged() == 0) return skipped("attn", "no query sees more than one key");

  CheckResult result{.stage = "attn",
                     .status = Status::pass,
                     .value = worst.measure(),
                     .limit = tolerance,
                     .at = worst.element(evidence)};
  if (worst.off() > 0) {
    result.message =
        "weights depart from equal ones by up to " + short_number(100 * worst.measure()) + " %";
    return result;
  }
  result.status = Status::warn;
  result.message =
      "uniform: every query gives its keys the same weight, to within " + short_number(tolerance);
  result.hint = uniform_hint(evidence);
  return result;
}

template CheckResult softmax_uniform(const Evidence<float>&);
template CheckResult softmax_uniform(const Evidence<double>&);

}  // namespace qkv::checks
