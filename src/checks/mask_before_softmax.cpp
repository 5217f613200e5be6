// mask.before_softmax: the weights of a query sum to 1 over the keys that it sees.
#include <cmath>

#include "checks.hpp"
#include "hidden_weights.hpp"
#include "qkv/base/text.hpp"
#include "rounding.hpp"
#include "row_sums.hpp"

namespace qkv::checks {

namespace {

/// True where all rows in which nothing is hidden sum to 1, and there are some.
template <class T>
bool whole_rows_sum_to_one(const Evidence<T>& evidence, double tolerance) {
  Sight<T> sight(evidence);
  Worst worst;
  for_each_row(evidence.attn, [&](std::size_t b, std::size_t h, std::size_t i, auto row) {
    if (sight.look(b, h, i, row.size()) < row.size()) return;
    CarefulSum sum;
    for (const T weight : row) sum.add(static_cast<double>(weight));
    worst.see(std::abs(sum.value() - 1), tolerance, b, h, i);
  });
  return worst.judged() > 0 && worst.off() == 0;
}

template <class T>
std::string before_hint(const Evidence<T>& evidence, double seen, double hidden, double tolerance) {
  if (std::isnan(seen)) return "a hidden score of NaN, or a fill that overflowed, spoils its row";
  if (hidden > 0) return "hidden keys kept a share of the weight (mask.leak)";
  if (seen > 1) return "more than 1: multiplied after the softmax, or dropout is on";
  const char* after =
      "hidden weights are 0 and the others were not raised: mask the scores before "
      "the softmax, not the weights after it";
  return whole_rows_sum_to_one(evidence, tolerance)
             ? after
             : std::string(after) + ", unless dropout or a sink took the rest";
}

}  // namespace

/// sum of attn[b,h,i,j] over the keys j that query i sees = 1, for queries with a key hidden.
///
/// edge    with a finite fill the sum goes over all keys: what hidden ones get is mask.leak's
///         question. Queries that see no key are left out.
template <class T>
CheckResult mask_before_softmax(const Evidence<T>& evidence) {
  if (const std::string why = hidden_missing(evidence); !why.empty()) return skipped("attn", why);
  const double tolerance = sum_tolerance(rounding_of(evidence), evidence.attn.size(3));
  const bool finite_fill = has_finite_fill(evidence);
  RowSums<T> right(evidence);
  Worst worst;
  double worst_seen = 0, worst_hidden = 0;
  for_each_judged_row(
      evidence, [&](std::size_t b, std::size_t h, std::size_t i, auto row, const Sight<T>& sight) {
        CarefulSum seen, hidden;
        for (std::size_t j = 0; j < row.size(); ++j) {
          (sight.hidden(j) && !finite_fill ? hidden : seen).add(static_cast<double>(row[j]));
        }
        if (worst.see(right.of(b, h, i).off(seen.value()), tolerance, b, h, i)) {
          worst_seen = seen.value();
          worst_hidden = hidden.value();
        }
      });
  if (worst.judged() == 0) return skipped("attn", nothing_hidden);

  CheckResult result{.stage = "attn",
                     .status = Status::pass,
                     .value = worst.measure(),
                     .limit = tolerance,
                     .at = worst.row(evidence)};
  if (worst.off() > 0) {
    result.status = Status::fail;
    result.message = "sums to " + short_number(worst_seen) + " over what is visible, expected " +
                     right.words() + " ± " + short_number(tolerance) + " " +
                     out_of(worst.off(), worst.judged(), "rows with hidden keys");
    result.hint = before_hint(evidence, worst_seen, worst_hidden, tolerance);
    return result;
  }
  result.message = "rows sum to " + right.words() + " ± " + short_number(worst.measure()) +
                   " over what is visible (limit " + short_number(tolerance) + ")";
  return result;
}

template CheckResult mask_before_softmax(const Evidence<float>&);
template CheckResult mask_before_softmax(const Evidence<double>&);

}  // namespace qkv::checks
