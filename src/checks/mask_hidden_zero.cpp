// mask.hidden_zero: the weights of hidden keys are exactly 0.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "checks.hpp"
#include "hidden_weights.hpp"
#include "hiding_rule.hpp"
#include "logits.hpp"
#include "qkv/base/text.hpp"
#include "rounding.hpp"

namespace qkv::checks {

/// attn[b,h,i,j] = 0 where key j is hidden from query i. With a finite fill the weight may be what
/// that fill gives, exp(fill - m) with m the greatest visible score: whether that is small enough
/// is mask.leak's question.
///
/// edge    queries that see no key are left out: their weights follow the policy for empty rows
template <class T>
CheckResult mask_hidden_zero(const Evidence<T>& evidence) {
  if (const std::string why = hidden_missing(evidence); !why.empty()) return skipped("attn", why);
  const bool finite_fill = has_finite_fill(evidence);
  const Logits<T> logits(evidence);
  if (finite_fill && !logits.missing().empty()) {
    return skipped("attn",
                   "what a finite fill lets through depends on the scores: " + logits.missing());
  }
  const Rounding rounding = rounding_of(evidence);

  Worst worst;  // how far above what is allowed
  double worst_allowed = 0;
  std::vector<double> x;
  for_each_judged_row(
      evidence, [&](std::size_t b, std::size_t h, std::size_t i, auto row, const Sight<T>& sight) {
        double m = -std::numeric_limits<double>::infinity();
        if (finite_fill) {
          logits.row(b, h, i, x);
          for (std::size_t j = 0; j < x.size(); ++j) {
            if (!sight.hidden(j)) m = std::max(m, x[j]);
          }
        }
        for (std::size_t j = 0; j < row.size(); ++j) {
          if (!sight.hidden(j)) continue;
          double allowed = 0;
          if (finite_fill && x[j] > -std::numeric_limits<double>::infinity()) {
            // The exponent is known to within the rounding of its two terms, the weight likewise.
            const double slack = 2 * rounding.eps * (std::abs(x[j]) + std::abs(m) + 8);
            allowed = std::min(1.0, std::exp(x[j] - m) * (1 + slack) + rounding.tiny);
          }
          const double weight = std::abs(static_cast<double>(row[j]));
          if (worst.see(weight - allowed, 0, b, h, i, j)) worst_allowed = allowed;
        }
      });
  if (worst.judged() == 0) return skipped("attn", nothing_hidden);

  const auto weight =
      static_cast<double>(evidence.attn(worst.b(), worst.h(), worst.i(), worst.j()));
  CheckResult result{.stage = "attn",
                     .status = Status::pass,
                     .value = weight,
                     .limit = worst_allowed,
                     .at = worst.element(evidence)};
  if (worst.off() > 0) {
    result.status = Status::fail;
    result.message = "weight " + short_number(weight) + " of a key that " +
                     hiding_rule(*evidence.visibility, worst.b(), worst.h(), worst.i(), worst.j()) +
                     ", expected " +
                     (finite_fill ? short_number(worst_allowed) + " at most" : "0") + " " +
                     out_of(worst.off(), worst.judged(), "hidden weights");
    result.hint = "hidden scores must become -inf before the softmax";
    return result;
  }
  result.message =
      finite_fill ? "hidden weights are what the fill gives, " + short_number(weight) + " at most"
                  : std::to_string(worst.judged()) + " hidden weights are exactly 0";
  return result;
}

template CheckResult mask_hidden_zero(const Evidence<float>&);
template CheckResult mask_hidden_zero(const Evidence<double>&);

}  // namespace qkv::checks
