// mask.leak: nothing of the future, of the padding or from behind the mask gets through.
#include <cmath>

#include "checks.hpp"
#include "hidden_weights.hpp"
#include "hiding_rule.hpp"
#include "qkv/base/text.hpp"
#include "rounding.hpp"

namespace qkv::checks {

namespace {

/// What most likely let the weights through.
template <class T>
std::string leak_hint(const Evidence<T>& evidence, std::size_t leaking, std::size_t hidden) {
  if (has_finite_fill(evidence)) {
    return "the fill is not far enough below the scores: --fill -inf lets nothing through";
  }
  if (evidence.settings.softcap) {
    return "a mask before the softcap becomes -C, a score like others: mask after it";
  }
  if (leaking == hidden) return "the mask was not applied to these scores";
  return "another mask was applied: the other polarity, alignment, or an axis off";
}

}  // namespace

/// Greatest weight of a key that is hidden from its query, and the rule that hides it.
///
/// range   with -Inf as the fill 0 is expected; with a finite one eps at most, which no sum of
///         weights near 1 can show
/// edge    queries that see no key are left out: their weights follow the policy for empty rows
template <class T>
CheckResult mask_leak(const Evidence<T>& evidence) {
  if (const std::string why = hidden_missing(evidence); !why.empty()) return skipped("attn", why);
  const double limit = has_finite_fill(evidence) ? rounding_of(evidence).eps : 0;
  Worst worst;
  for_each_judged_row(
      evidence, [&](std::size_t b, std::size_t h, std::size_t i, auto row, const Sight<T>& sight) {
        for (std::size_t j = 0; j < row.size(); ++j) {
          if (sight.hidden(j)) worst.see(std::abs(static_cast<double>(row[j])), limit, b, h, i, j);
        }
      });
  if (worst.judged() == 0) return skipped("attn", nothing_hidden);

  CheckResult result{.stage = "attn",
                     .status = Status::pass,
                     .value = worst.measure(),
                     .limit = limit,
                     .at = worst.element(evidence)};
  if (worst.off() > 0) {
    result.status = Status::fail;
    result.message = "query " + std::to_string(worst.i()) + " gives " +
                     short_number(worst.measure()) + " to key " + std::to_string(worst.j()) +
                     ", which " +
                     hiding_rule(*evidence.visibility, worst.b(), worst.h(), worst.i(), worst.j()) +
                     " " + out_of(worst.off(), worst.judged(), "hidden weights");
    result.hint = leak_hint(evidence, worst.off(), worst.judged());
    return result;
  }
  result.message =
      "nothing gets through: hidden keys have " + short_number(worst.measure()) + " at most";
  return result;
}

template CheckResult mask_leak(const Evidence<float>&);
template CheckResult mask_leak(const Evidence<double>&);

}  // namespace qkv::checks
