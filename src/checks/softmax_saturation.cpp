// softmax.saturation: not nearly every query puts all its weight on one key.
#include <fmt/format.h>

#include <cmath>

#include "checks.hpp"
#include "logits.hpp"
#include "qkv/base/text.hpp"
#include "qkv/tensor/stats.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

/// A weight above this leaves 1 % for all other keys; the gradient through such a row is as small.
constexpr double all_on_one = 0.99;
/// Share of the rows that may be like that. Trained heads have some such rows, hardly ever all.
constexpr double most_rows = 0.9;

}  // namespace

/// Share of queries, of those that see more than one key, whose greatest weight exceeds 0.99.
template <class T>
CheckResult softmax_saturation(const Evidence<T>& evidence) {
  if (const std::string why = attn_missing(evidence); !why.empty()) return skipped("attn", why);
  Sight<T> sight(evidence);
  Worst worst;  // the row with the greatest weight
  for_each_row(evidence.attn, [&](std::size_t b, std::size_t h, std::size_t i, auto row) {
    if (sight.look(b, h, i, row.size()) < 2) return;
    double greatest = 0;
    for (const T weight : row) {
      if (weight > greatest) greatest = static_cast<double>(weight);
    }
    worst.see(greatest, all_on_one, b, h, i);
  });
  if (worst.judged() == 0) return skipped("attn", "no query sees more than one key");

  const double share = static_cast<double>(worst.off()) / static_cast<double>(worst.judged());
  CheckResult result{.stage = "attn",
                     .status = Status::pass,
                     .value = share,
                     .limit = most_rows,
                     .at = worst.row(evidence)};
  const std::string counts =
      fmt::format("{} of {} rows have a weight above {}", worst.off(), worst.judged(), all_on_one);
  if (share <= most_rows) {
    result.message = counts + ", the greatest is " + short_number(worst.measure());
    return result;
  }
  result.status = Status::warn;
  result.message = counts + ": each query takes one key and its gradient vanishes";
  if (!evidence.scaled.empty()) {
    const Stats spread = stats_of(evidence.scaled.elements());
    result.message += "; std of scaled is " + short_number(spread.std);
  }
  const auto scale = scale_of(evidence);
  result.hint = scale && *scale == 1 && evidence.sizes.D > 1
                    ? "the scores are not scaled: 1/sqrt(D) would bring their spread near 1"
                    : "scores this far apart: is the scale missing, or are q and k very large?";
  return result;
}

template CheckResult softmax_saturation(const Evidence<float>&);
template CheckResult softmax_saturation(const Evidence<double>&);

}  // namespace qkv::checks
