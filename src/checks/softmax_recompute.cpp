// softmax.recompute: attn is the softmax of the stage before it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "checks.hpp"
#include "logits.hpp"
#include "qkv/base/text.hpp"
#include "qkv/tensor/elementary.hpp"
#include "rounding.hpp"
#include "row_sums.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Turns logits into weights in place, in double; returns their maximum. A sink takes part and is
/// dropped.
double softmax_in_place(std::vector<double>& x, std::optional<double> sink) {
  double m = *std::max_element(x.begin(), x.end());
  if (sink) m = std::max(m, *sink);
  CarefulSum sum;
  if (sink) sum.add(std::exp(*sink - m));
  for (double& value : x) value -= m;
  exponentials(x);
  for (const double value : x) sum.add(value);
  const double total = sum.value();
  for (double& value : x) value /= total;
  return m;
}

/// Greatest error of a right weight p = exp(x - m)/sum, stored and then compared with p in double.
///
///   x as stored is off by unit*|x|, and so is m with it: relative to p    unit * (|x| + |m|)
///   x - m is rounded: |x - m| <= |x| + |m|                                unit * (|x| + |m|)
///   the other terms of the sum are off by unit*|x_k|, weighted by p_k;
///   sum p_k*|x_k| <= |m| + ln n                                          unit * (|m| + ln n)
///   exp to 2 ulp, the quotient, storing                                   8 * unit
///   the sum of n terms in any order                                       inner * n
///   the same once more in double, for the weight that it is compared with
///   what is too small to store                                            tiny
class WeightTolerance {
 public:
  WeightTolerance(double m, std::size_t n, const Rounding& rounding)
      : by_logit_(2 * (rounding.unit + 0x1p-53)), tiny_(rounding.tiny) {
    const auto terms = static_cast<double>(n);
    rest_ = (rounding.unit + 0x1p-53) * (3 * std::abs(m) + std::log(terms) + 8) +
            (rounding.inner + 0x1p-53) * terms;
  }
  double operator()(double p, double x) const {
    // Where p is 0 the logit may be -Inf, and does not matter.
    const double size = std::abs(x) < infinity ? std::abs(x) : 0;
    return p * (by_logit_ * size + rest_) + tiny_;
  }

 private:
  double by_logit_, rest_, tiny_;
};

}  // namespace

/// attn[b,h,i,j] = exp(x[b,h,i,j] - m) / sum_j exp(x[b,h,i,j] - m), recomputed in double, row by
/// row; x is the stage before attn.
///
/// edge    a row that sees no key is what the policy for empty rows says; a row of x with NaN or
///         +Inf has no softmax and is not judged, nor has one that overflowed to -Inf all along
template <class T>
CheckResult softmax_recompute(const Evidence<T>& evidence) {
  if (const std::string why = attn_missing(evidence); !why.empty()) return skipped("attn", why);
  const Logits<T> logits(evidence);
  if (!logits.missing().empty()) return skipped("attn", logits.missing());
  const Rounding rounding = rounding_of(evidence);
  const std::size_t S = evidence.attn.size(3);
  const EmptyRows policy = evidence.settings.empty_rows;
  const bool dropped = after_dropout(evidence);
  const double factor = kept_factor(evidence);

  Sight<T> sight(evidence);
  Worst worst;  // |attn - expected| in units of its tolerance
  double worst_off = 0, worst_tolerance = 0, worst_expected = 0;
  std::size_t without_softmax = 0;
  bool choice = false;
  std::vector<double> x, expected;
  for_each_row(evidence.attn, [&](std::size_t b, std::size_t h, std::size_t i, auto row) {
    const std::size_t seen = sight.look(b, h, i, S);
    logits.row(b, h, i, x);
    const bool finite = std::all_of(x.begin(), x.end(), [](double v) { return v < infinity; });
    const bool hidden = std::all_of(x.begin(), x.end(), [](double v) { return v == -infinity; });
    // qkv itself computed in half precision: -Inf that no rule put there is an overflow.
    const bool overflow = hidden && seen > 0 && evidence.sinks.empty() &&
                          evidence.settings.arithmetic != Arithmetic::native;
    const bool empty = seen == 0 || (hidden && !overflow);
    if (overflow || (!finite && !empty)) {
      ++without_softmax;
      return;
    }
    choice = choice || (!empty && seen > 1);
    double m = 0;
    if (empty) {
      expected.assign(S, empty_weight(policy, S));
    } else {
      expected = x;
      m = softmax_in_place(expected, evidence.sinks.empty()
                                         ? std::nullopt
                                         : std::optional<double>(evidence.sinks(h)));
      if (factor != 1) {
        for (double& weight : expected) weight *= factor;
      }
    }
    const WeightTolerance weight_tolerance(m, S, rounding);
    if (!dropped && !empty) {
      // A little more than the bound is looked at twice: what matters is the quotient below.
      const auto excess = [&](std::size_t j, double bound) {
        const double off = std::abs(static_cast<double>(row[j]) - expected[j]);
        return !(off <= bound * (1 - 1e-12) * weight_tolerance(expected[j], x[j]));
      };
      if (worst.pass_row(S, 1, excess)) return;
    }
    for (std::size_t j = 0; j < S; ++j) {
      const auto weight = static_cast<double>(row[j]);
      if (dropped && weight == 0) continue;
      double off = std::abs(weight - expected[j]);
      if (std::isnan(expected[j])) off = std::isnan(weight) ? 0 : infinity;
      const double tolerance = empty ? rounding.eps * empty_weight(EmptyRows::uniform, S)
                                     : weight_tolerance(expected[j], x[j]);
      if (worst.see(off / tolerance, 1, b, h, i, j)) {
        worst_off = off;
        worst_tolerance = tolerance;
        worst_expected = expected[j];
      }
    }
  });
  if (worst.judged() == 0) {
    return skipped("attn",
                   logits.stage() + " holds NaN or an infinity in every row: it has no softmax");
  }

  CheckResult result{
      .stage = "attn", .value = worst_off, .limit = worst_tolerance, .at = worst.element(evidence)};
  if (worst.off() > 0) {
    const auto weight =
        static_cast<double>(evidence.attn(worst.b(), worst.h(), worst.i(), worst.j()));
    result.status = Status::fail;
    result.message = "weight " + short_number(weight) + ", softmax(" + logits.formula() +
                     ") gives " + short_number(worst_expected) + " ± " +
                     short_number(worst_tolerance) + " " +
                     out_of(worst.off(), worst.judged(), "weights");
    result.hint =
        logits.stage() == "masked" || sight.ruled()
            ? "attn was not made from this " + logits.stage() + " by a softmax over the keys"
            : "if keys were hidden, say which: --causal, --mask or --key-padding";
    return result;
  }
  if (!choice) {
    return skipped("attn", "no query sees more than one key: its weight is 1 whatever the score");
  }
  result.status = Status::pass;
  result.message = "attn is softmax(" + logits.formula() + "), at worst off by " +
                   short_number(worst_off) + " (limit " + short_number(worst_tolerance) + ")";
  if (without_softmax > 0) {
    result.message += "; " + std::to_string(without_softmax) + " rows of " + logits.stage() +
                      " hold NaN or +Inf and were not judged";
  }
  return result;
}

template CheckResult softmax_recompute(const Evidence<float>&);
template CheckResult softmax_recompute(const Evidence<double>&);

}  // namespace qkv::checks
