// softmax.row_sum: the weights of a query sum to 1, and to 0 where it sees no key.
#include <algorithm>
#include <cmath>
#include <limits>

#include "checks.hpp"
#include "qkv/base/text.hpp"
#include "rounding.hpp"
#include "row_sums.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

/// Sums of the rows that see a key, for a guess at what made them wrong.
struct Seen {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
};

template <class T>
std::string sum_hint(const Evidence<T>& evidence, const Seen& sums, double tolerance,
                     double worst_sum) {
  if (std::isnan(worst_sum)) {
    return "NaN comes from exp without the row maximum subtracted, or from a row that sees no key";
  }
  const auto D = static_cast<double>(evidence.sizes.D);
  // One factor on every row is a scale that came after the softmax.
  if (sums.greatest - sums.least <= 2 * tolerance) {
    const bool root =
        D > 1 && std::abs(sums.greatest * std::sqrt(D) - 1) <= tolerance * std::sqrt(D);
    return "every row sums to " + short_number(sums.greatest) +
           (root ? " = 1/sqrt(D): is the scale applied after the softmax?"
                 : ": were the weights multiplied after the softmax?");
  }
  if (sums.greatest > 1 + tolerance) {
    return "another axis may have been normalised (softmax.axis), or dropout is on";
  }
  return "sums below 1: hidden after the softmax, dropout, or a sink in the denominator";
}

/// After dropout the sums are 1 on average: over N rows their mean has a standard deviation of at
/// most sqrt(p/(1-p)/N), since the squares of a row's weights sum to 1 at most.
std::string mean_off(double mean, std::size_t rows, double p, double tolerance) {
  const double spread = std::sqrt(p / (1 - p) / static_cast<double>(rows));
  if (std::abs(mean - 1) <= 6 * spread + tolerance) return {};
  return "rows sum to " + short_number(mean) + " on average, expected 1 ± " +
         short_number(6 * spread + tolerance) + " after dropout";
}

}  // namespace

/// sum_j attn[b,h,i,j] = 1, or what sinks and dropout make of it; in a row that sees no key 0, NaN
/// or 1, by the policy for empty rows.
///
/// edge    NaN in a row fails, but for empty rows that are meant to be NaN
template <class T>
CheckResult softmax_row_sum(const Evidence<T>& evidence) {
  if (const std::string why = attn_missing(evidence); !why.empty()) return skipped("attn", why);
  const std::size_t S = evidence.attn.size(3);
  const double tolerance = sum_tolerance(rounding_of(evidence), S);
  const EmptyRows policy = evidence.settings.empty_rows;
  Sight<T> sight(evidence);
  RowSums<T> right(evidence);
  Worst worst;
  Seen sums;
  double worst_sum = 0, worst_expected = 1;
  CarefulSum all_rows;
  std::size_t rows_seen = 0;
  bool choice = false;
  for_each_row(evidence.attn, [&](std::size_t b, std::size_t h, std::size_t i, auto row) {
    const std::size_t seen = sight.look(b, h, i, S);
    choice = choice || seen > 1;
    CarefulSum sum;
    for (const T weight : row) sum.add(static_cast<double>(weight));
    double expected = 1, off = 0;
    if (seen > 0) {
      sums.least = std::min(sums.least, sum.value());
      sums.greatest = std::max(sums.greatest, sum.value());
      const SumRange range = right.of(b, h, i);
      off = range.off(sum.value());
      expected = (range.least + range.greatest) / 2;
      all_rows.add(sum.value());
      ++rows_seen;
    } else if (policy == EmptyRows::nan) {
      const bool all_nan = std::all_of(row.begin(), row.end(), [](T w) { return std::isnan(w); });
      expected = empty_weight(policy, S);
      off = all_nan ? 0 : std::numeric_limits<double>::infinity();
    } else {
      expected = policy == EmptyRows::zero ? 0 : 1;
      off = std::abs(sum.value() - expected);
    }
    if (worst.see(off, tolerance, b, h, i)) {
      worst_sum = sum.value();
      worst_expected = expected;
    }
  });

  CheckResult result{
      .stage = "attn", .value = worst.measure(), .limit = tolerance, .at = worst.row(evidence)};
  if (worst.off() > 0) {
    result.status = Status::fail;
    result.message = "sums to " + short_number(worst_sum) + ", expected " +
                     short_number(worst_expected) + " ± " + short_number(tolerance) + " " +
                     out_of(worst.off(), worst.judged(), "rows");
    if (!right.is_one()) {
      result.message = "sums to " + short_number(worst_sum) + ", expected " + right.words() +
                       (evidence.sinks.empty() ? "" : " (" + short_number(worst_expected) + ")") +
                       " " + out_of(worst.off(), worst.judged(), "rows");
      result.hint = "look at --sinks and --dropout: is attn what they make of the softmax?";
    } else if (worst_expected != 1) {
      result.message += "; it sees no key, and such rows are " + empty_weight_text(policy);
      result.hint = "--empty-rows says what a query without a key gets: zero, nan or uniform";
    } else {
      result.hint = sum_hint(evidence, sums, tolerance, worst_sum);
    }
    return result;
  }
  if (!choice)
    return skipped("attn", "no query sees more than one key: its weight is 1 by definition");
  if (after_dropout(evidence) && rows_seen > 0) {
    const double mean = all_rows.value() / static_cast<double>(rows_seen);
    if (const std::string off = mean_off(mean, rows_seen, *evidence.settings.dropout, tolerance);
        !off.empty()) {
      result.status = Status::fail;
      result.message = off;
      result.hint = "kept weights are divided by 1 - p: is p another, or dropout off?";
      return result;
    }
  }
  result.status = Status::pass;
  if (!right.is_one()) {
    result.message = "rows sum to " + right.words() + ", within " + short_number(worst.measure()) +
                     " (limit " + short_number(tolerance) + ")";
    return result;
  }
  result.message = "rows sum to 1 ± " + short_number(worst.measure()) + " (limit " +
                   short_number(tolerance) + ")";
  return result;
}

template CheckResult softmax_row_sum(const Evidence<float>&);
template CheckResult softmax_row_sum(const Evidence<double>&);

}  // namespace qkv::checks
