// What the normalisation of queries and keys makes of their rounding errors.
#include "diagnose/norm_variance.hpp"

#include <cmath>
#include <span>
#include <vector>

#include "qkv/attention/qk_norm.hpp"

namespace qkv {

namespace {

/// g/r and u of one row: with a gain of ones y is u itself, and y/x is 1/r.
void pass_row(std::span<const double> x, std::span<const double> u, std::span<const double> from,
              std::span<const double> y, QkNorm kind, std::span<double> to) {
  const auto D = static_cast<double>(x.size());
  double mean = 0, spread = 0, of_mean = 0, squares = 0, length = 0;
  for (std::size_t d = 0; d < x.size(); ++d) mean += kind == QkNorm::layer ? x[d] / D : 0;
  const double n = kind == QkNorm::l2 ? 1 : D;
  for (std::size_t d = 0; d < x.size(); ++d) {
    spread += u[d] * u[d] * from[d] / (n * n);
    of_mean += kind == QkNorm::layer ? from[d] / (D * D) : 0;
    squares += (x[d] - mean) * (x[d] - mean);
    length += u[d] * u[d];
  }
  if (!(squares > 0)) return;
  const double inverse = length / squares;  // 1/r^2
  for (std::size_t d = 0; d < x.size(); ++d) {
    const double gain = u[d] != 0 ? y[d] / u[d] : 1;
    to[d] = gain * gain * inverse * (from[d] + of_mean + u[d] * u[d] * spread);
    // The moments, the root and the quotient round in float32 at best.
    to[d] += 4 * y[d] * y[d] * 0x1p-46 / 12;
  }
}

}  // namespace

Tensor<double, 4> norm_variance(const Tensor<double, 4>& x, const Tensor<double, 4>& variance,
                                const Tensor<double, 4>& y, const Problem<double>& problem) {
  auto passed = Tensor<double, 4>::make(y.sizes());
  const Settings& settings = problem.settings;
  if (x.sizes() != y.sizes() || variance.sizes() != y.sizes() || !settings.qk_norm) return passed;
  const Tensor<double, 4> u = qk_norm(x, *settings.qk_norm, settings.eps_of_norm(), {});
  for (std::size_t b = 0; b < y.size(0); ++b) {
    for (std::size_t h = 0; h < y.size(1); ++h) {
      for (std::size_t l = 0; l < y.size(2); ++l)
        pass_row(x.row(b, h, l), u.row(b, h, l), variance.row(b, h, l), y.row(b, h, l),
                 *settings.qk_norm, passed.row(b, h, l));
    }
  }
  return passed;
}

}  // namespace qkv
