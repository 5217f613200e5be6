// block.norm: each row of norm1 and norm2 has mean 0 and variance 1 before the gain.
#include <algorithm>
#include <cmath>
#include <string>

#include "block_checks.hpp"
#include "qkv/base/text.hpp"
#include "qkv/tensor/dtype.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

/// Moments of a row, summed without loss.
struct Moments {
  double mean = 0;    ///< 0 for rms, which takes none off
  double square = 0;  ///< of what is left: the variance, or the mean square
  double largest = 0;
};

template <class T>
Moments moments_of(std::span<const T> row, bool centred) {
  const auto n = static_cast<double>(row.size());
  Moments moments;
  CarefulSum sum;
  for (const T value : row) {
    sum.add(static_cast<double>(value));
    moments.largest = std::max(moments.largest, std::abs(static_cast<double>(value)));
  }
  if (centred) moments.mean = sum.value() / n;
  CarefulSum squares;
  for (const T value : row) {
    const double left = static_cast<double>(value) - moments.mean;
    squares.add(left * left);
  }
  moments.square = squares.value() / n;
  return moments;
}

/// How far a right row may be off, u = eps/2 of the stages' type and w = 2^-53 of the arithmetic:
///
///   mean     rounding each element  u*mean|y| <= u
///            the mean of x, each x - m, and 1/sqrt: w*(4 + 4*max|x|/sqrt(v + eps))
///   square   rounding each element twice over  2u + u^2
///            v itself, a sum of n terms, and 1/sqrt  w*(n + 8), and twice the mean's share
struct Limits {
  double mean, square;
};

Limits limits_of(double eps, double norm_eps, const Moments& in, std::size_t n) {
  const double unit = eps / 2, inner = 0x1p-53;
  const double shift = inner * (4 + 4 * in.largest / std::sqrt(in.square + norm_eps));
  return {unit + shift, 2 * unit + unit * unit + inner * (static_cast<double>(n) + 8) + 2 * shift};
}

struct Found {
  Worst worst;
  double expected = 0, got = 0, limit = 0;  ///< of the worst row
  bool by_mean = false;
  std::size_t flat = 0;  ///< rows whose variance is not above eps
};

template <class T>
void look(const BlockEvidence<T>& evidence, const Tensor<T, 3>& in, const Tensor<T, 3>& rows,
          Found& found) {
  const bool centred = evidence.settings.kind == NormKind::layer;
  const double norm_eps = evidence.settings.eps;
  const double eps = std::max(evidence.eps, epsilon(dtype_of<T>()));
  for (std::size_t b = 0; b < rows.size(0); ++b) {
    for (std::size_t l = 0; l < rows.size(1); ++l) {
      const Moments before = moments_of(in.row(b, l), centred);
      // The rows' own mean is what is judged, so their square is taken about 0.
      const Moments after = moments_of(rows.row(b, l), false);
      const double mean = centred ? moments_of(rows.row(b, l), true).mean : 0;
      const double expected = before.square / (before.square + norm_eps);
      const Limits limits = limits_of(eps, norm_eps, before, rows.size(2));
      if (before.square <= norm_eps) ++found.flat;
      const double by_mean = std::abs(mean) / limits.mean;
      const double by_square = std::abs(after.square - expected) / limits.square;
      // A NaN is worse than any number, whichever of the two it is in.
      const bool mean_is_worse = std::isnan(by_mean) || by_mean > by_square;
      if (found.worst.see(mean_is_worse ? by_mean : by_square, 1, b, 0, l)) {
        found.by_mean = mean_is_worse;
        found.expected = mean_is_worse ? 0 : expected;
        found.got = mean_is_worse ? mean : after.square;
        found.limit = mean_is_worse ? limits.mean : limits.square;
      }
    }
  }
}

}  // namespace

/// Each row has a mean of 0 and a variance of v/(v + eps), v that of what it was made from: 1 but
/// for eps. With rms no mean is taken off, and v is the mean square. Warns where v is no larger
/// than eps: such rows are flat, and eps sets their size.
template <class T>
CheckResult block_norm(const BlockEvidence<T>& evidence) {
  const bool layer = evidence.settings.kind == NormKind::layer;
  const std::string square = layer ? "variance" : "mean square";
  Found one, two;
  if (!evidence.norm1_rows.empty()) look(evidence, evidence.norm1_in, evidence.norm1_rows, one);
  if (!evidence.norm2_rows.empty()) look(evidence, evidence.norm2_in, evidence.norm2_rows, two);
  const std::size_t judged = one.worst.judged() + two.worst.judged();
  if (judged == 0) return skipped("norm1,norm2", "needs rows");
  const bool second = one.worst.judged() == 0 ||
                      (!std::isnan(one.worst.measure()) &&
                       !(two.worst.measure() <= one.worst.measure()) && two.worst.judged() > 0);
  const Found& found = second ? two : one;
  const std::size_t off = one.worst.off() + two.worst.off(), flat = one.flat + two.flat;
  CheckResult result{.stage = second ? "norm2" : "norm1",
                     .status = Status::pass,
                     .value = std::abs(found.got - found.expected),
                     .limit = found.limit,
                     .at = block_index(evidence, found.worst.b(), found.worst.i())};
  result.message = std::string("rows before the gain have ") +
                   (layer ? "mean 0 and variance 1" : "mean square 1") + " but for eps, at worst " +
                   (found.by_mean ? "a mean" : "a " + square) + " off by " +
                   short_number(*result.value);
  if (off > 0) {
    result.status = Status::fail;
    result.message = (found.by_mean ? "mean " : square + " ") + short_number(found.got) +
                     " before the gain, expected " + short_number(found.expected) + " " +
                     out_of(off, judged, "rows");
  } else if (flat > 0) {
    result.status = Status::warn;
    result.message += "; " + out_of(flat, judged, "rows") + " have a " + square +
                      " of eps or less before the norm, which then does not bring them to 1";
    result.hint = "such rows are nearly " + std::string(layer ? "constant" : "zero") +
                  ": look at the stage before, or at --eps";
  }
  return result;
}

template CheckResult block_norm(const BlockEvidence<float>&);
template CheckResult block_norm(const BlockEvidence<double>&);

}  // namespace qkv::checks
