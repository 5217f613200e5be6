// Magnitude: scaled is scores times the scale, and its spread is what q and k lead one to expect.
#include <algorithm>
#include <cmath>
#include <string>

#include "logits.hpp"
#include "magnitude.hpp"
#include "qkv/base/text.hpp"
#include "qkv/tensor/stats.hpp"
#include "rounding.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

/// Names the factor that was found in place of the scale, where it is a known slip.
std::string factor_hint(double factor, double scale, double tolerance) {
  const auto is = [&](double candidate) {
    return candidate != scale && std::abs(factor - candidate) <=
                                     tolerance * std::max(std::abs(factor), std::abs(candidate));
  };
  if (is(1)) return "the scale is missing: scaled is scores unchanged";
  if (is(scale * scale)) return "the scale is applied twice, or is 1/D in place of 1/sqrt(D)";
  if (is(1 / scale)) return "the scale is inverted: divided by it, not multiplied";
  return "the factor that fits best is " + short_number(factor);
}

/// The factor f for which scores*f is nearest to scaled: sum(x*y) / sum(x*x).
template <class T>
double fitting_factor(const Evidence<T>& evidence) {
  double dot = 0, square = 0;
  for_each_row(evidence.scores, [&](std::size_t b, std::size_t h, std::size_t i, auto row) {
    const auto scaled = evidence.scaled.row(b, h, i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto x = static_cast<double>(row[j]), y = static_cast<double>(scaled[j]);
      if (!std::isfinite(x)) continue;
      if (std::isfinite(y)) {
        dot += x * y;
        square += x * x;
      }
    }
  });
  return dot / square;
}

/// Greatest finite |value|.
template <class T>
double greatest_size(std::span<const T> values) {
  double greatest = 0;
  for (const T value : values) {
    if (std::isfinite(value)) greatest = std::max(greatest, std::abs(static_cast<double>(value)));
  }
  return greatest;
}

}  // namespace

template <class T>
CheckResult scale_applied(const Evidence<T>& evidence) {
  if (evidence.scores.empty() || evidence.scaled.empty()) {
    return skipped("scaled", "needs scores and scaled");
  }
  const auto scale = scale_of(evidence);
  if (!scale) return skipped("scaled", "needs D or a scale");
  const Rounding rounding = rounding_of(evidence);
  const double greatest = greatest_size(evidence.scores.elements());
  if (greatest == 0) return skipped("scaled", "all scores are 0: any scale gives the same");

  Worst worst;
  double worst_expected = 0;
  for_each_row(evidence.scores, [&](std::size_t b, std::size_t h, std::size_t i, auto row) {
    const auto scaled = evidence.scaled.row(b, h, i);
    const auto excess = [&](std::size_t j, double bound) {
      const auto x = static_cast<double>(row[j]), y = static_cast<double>(scaled[j]);
      return !(std::abs(y - x * *scale) <= bound);
    };
    if (worst.pass_row(row.size(), HUGE_VAL, excess)) return;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto x = static_cast<double>(row[j]), y = static_cast<double>(scaled[j]);
      if (!std::isfinite(x)) continue;  // stage.finite speaks of it
      const double expected = x * *scale;
      if (overflowed(expected, y, rounding.eps)) continue;
      if (worst.see(std::abs(y - expected), 0, b, h, i, j)) worst_expected = expected;
    }
  });
  // Both stages as stored, and the product: three roundings of the element. Scaling q and k by
  // sqrt(scale) each instead rounds every term of a sum that may cancel: those of the largest.
  const double tolerance = 4 * rounding.eps * greatest * std::abs(*scale) + rounding.tiny;
  CheckResult result{.stage = "scaled",
                     .status = Status::pass,
                     .value = worst.measure(),
                     .limit = tolerance,
                     .at = worst.element(evidence)};
  if (worst.measure() <= tolerance) {
    result.message = "scaled is scores*" + short_number(*scale);
    return result;
  }
  const auto found =
      static_cast<double>(evidence.scaled(worst.b(), worst.h(), worst.i(), worst.j()));
  result.status = Status::fail;
  result.message = "scaled is " + short_number(found) + ", scores*" + short_number(*scale) +
                   " gives " + short_number(worst_expected) + " (off by " +
                   short_number(worst.measure()) + ", limit " + short_number(tolerance) + ")";
  result.hint = factor_hint(fitting_factor(evidence), *scale, 4 * rounding.eps);
  return result;
}

/// For independent q and k with mean 0, the product of two rows has the std sqrt(D)*std(q)*std(k),
/// and D = 64 apart a missing scale makes it 8 times as large, a second one 8 times smaller.
/// Trained q and k are not independent: aligned they may reach sqrt(D) times the prediction, which
/// is what a missing scale looks like. Hence only q and k that look fresh (mean near 0, std near 1)
/// are judged, only from D = 8 on, and not where scores show that the scale is there.
///
/// source  Vaswani et al. 2017 (arXiv:1706.03762), footnote 4
template <class T>
CheckResult spread_of_scaled(const Evidence<T>& evidence) {
  if (evidence.scaled.empty() || evidence.scaled.size() == 0) {
    return skipped("scaled", "needs scaled");
  }
  const double measured = stats_of(evidence.scaled.elements()).std;
  const std::string spread = "std of scaled is " + short_number(measured);
  if (evidence.own) {
    // qkv made scaled from scores itself; scale_applied holds one against the other.
    return CheckResult{
        .stage = "scaled", .status = Status::pass, .value = measured, .message = spread};
  }
  const auto scale = scale_of(evidence);
  const std::size_t D = evidence.sizes.D;
  if (evidence.q.empty() || evidence.k.empty() || !scale || D == 0) {
    return skipped("scaled", spread + "; needs q and k to say what it should be");
  }
  if (D < 8 || std::abs(*scale) > 0.36 || evidence.scaled.size() < 256) {
    return skipped("scaled", spread +
                                 "; too little to judge it by: needs D of 8 or more, a scale "
                                 "below 0.36 and 256 scores");
  }
  const Stats q = stats_of(evidence.q.elements()), k = stats_of(evidence.k.elements());
  const auto fresh = [](const Stats& stats) {
    return std::abs(stats.mean) <= 0.25 && stats.std >= 0.5 && stats.std <= 2;
  };
  if (!fresh(q) || !fresh(k)) {
    return skipped("scaled", spread + "; q and k do not have mean 0 and variance 1 (std " +
                                 short_number(q.std) + " and " + short_number(k.std) +
                                 "), so nothing is expected of it");
  }
  const double expected = std::sqrt(static_cast<double>(D)) * q.std * k.std * std::abs(*scale);
  const double most = 0.8 * expected / std::abs(*scale), least = 1.25 * expected * std::abs(*scale);
  CheckResult result{.stage = "scaled", .status = Status::pass, .value = measured, .limit = most};
  result.message = spread + ", expected about " + short_number(expected);
  if (measured > most) {
    result.status = Status::warn;
    result.hint = "as without the scale: is it missing?";
  } else if (measured < least) {
    result.status = Status::warn;
    result.limit = least;
    result.hint = "as with the scale applied twice";
  }
  return result;
}

template CheckResult scale_applied(const Evidence<float>&);
template CheckResult scale_applied(const Evidence<double>&);
template CheckResult spread_of_scaled(const Evidence<float>&);
template CheckResult spread_of_scaled(const Evidence<double>&);

}  // namespace qkv::checks
