// softmax.range: every weight lies in [0, 1].
#include <cmath>

#include "checks.hpp"
#include "qkv/base/text.hpp"
#include "rounding.hpp"
#include "row_sums.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

std::string range_hint(double weight) {
  if (std::isnan(weight)) {
    return "NaN comes from exp without the row maximum subtracted, or from a row that sees no key";
  }
  if (weight < 0) return "below 0: these look like scores or log weights, not weights";
  return "above 1: divided by 1 - p under dropout, or not normalised over the keys";
}

}  // namespace

/// 0 <= attn[b,h,i,j] <= 1. The upper bound is loosened by what a whole row may be off, since one
/// weight can be all of its row; the lower one is exact, since exp is never negative.
///
/// edge    rows that see no key are left out where they are meant to be NaN; a NaN elsewhere fails
template <class T>
CheckResult softmax_range(const Evidence<T>& evidence) {
  if (const std::string why = attn_missing(evidence); !why.empty()) return skipped("attn", why);
  const double most =
      kept_factor(evidence) + sum_tolerance(rounding_of(evidence), evidence.attn.size(3));
  Sight<T> sight(evidence);
  Worst worst;  // the negative weight furthest below 0, else the greatest weight
  bool choice = false;
  for_each_row(evidence.attn, [&](std::size_t b, std::size_t h, std::size_t i, auto row) {
    const std::size_t seen = sight.look(b, h, i, row.size());
    choice = choice || seen > 1;
    if (seen == 0 && evidence.settings.empty_rows == EmptyRows::nan) return;
    const auto excess = [&](std::size_t j, double bound) {
      const auto weight = static_cast<double>(row[j]);
      return !(weight >= 0 && weight - most <= bound);
    };
    if (worst.pass_row(row.size(), 0, excess)) return;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto weight = static_cast<double>(row[j]);
      worst.see(weight < 0 ? -weight : weight - most, 0, b, h, i, j);
    }
  });
  if (worst.judged() == 0) return skipped("attn", "no query sees a key");

  const auto weight =
      static_cast<double>(evidence.attn(worst.b(), worst.h(), worst.i(), worst.j()));
  CheckResult result{.stage = "attn",
                     .value = weight,
                     .limit = weight < 0 ? 0 : most,
                     .at = worst.element(evidence)};
  if (worst.off() > 0) {
    result.status = Status::fail;
    result.message = "weight " + short_number(weight) + ", expected 0 to " +
                     short_number(kept_factor(evidence)) + " " +
                     out_of(worst.off(), worst.judged(), "weights");
    result.hint = range_hint(weight);
    return result;
  }
  if (!choice)
    return skipped("attn", "no query sees more than one key: weights can only be 0 or 1");
  result.status = Status::pass;
  result.message = "weights lie in 0 to " + short_number(kept_factor(evidence)) +
                   ", the greatest is " + short_number(weight);
  return result;
}

template CheckResult softmax_range(const Evidence<float>&);
template CheckResult softmax_range(const Evidence<double>&);

}  // namespace qkv::checks
