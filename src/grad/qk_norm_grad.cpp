// Back through y = (x - mean)/r * gain.
#include "qkv/grad/qk_norm_grad.hpp"

#include <cmath>
#include <span>
#include <vector>

namespace qkv {

namespace {

double mean_of(const std::vector<double>& row) {
  double sum = 0;
  for (const double value : row) sum += value;
  return sum / static_cast<double>(row.size());
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

/// One row forward again: n, and the r that it was divided by.
struct Normalised {
  std::vector<double> n;
  double r = 1;
  bool floored = false;  ///< l2: r is eps, not the length
};

template <class T>
Normalised normalised(std::span<const T> x, QkNorm kind, double eps) {
  Normalised row{{x.begin(), x.end()}, 1, false};
  if (kind == QkNorm::layer) {
    const double mean = mean_of(row.n);
    for (double& value : row.n) value -= mean;
  }
  const double squares = dot(row.n, row.n);
  if (kind == QkNorm::l2) {
    row.floored = std::sqrt(squares) < eps;
    row.r = row.floored ? eps : std::sqrt(squares);
  } else {
    row.r = std::sqrt(squares / static_cast<double>(x.size()) + eps);
  }
  for (double& value : row.n) value /= row.r;
  return row;
}

}  // namespace

template <class T>
QkNormGrad<T> qk_norm_grad(const Tensor<T, 4>& dy, const Tensor<T, 4>& x, QkNorm kind, double eps,
                           const Tensor<T, 1>& gain) {
  const std::size_t D = x.size(3);
  QkNormGrad<T> grad;
  grad.x = Tensor<T, 4>::make(x.sizes());
  std::vector<double> dgain(D), a(D);
  for (std::size_t b = 0; b < x.size(0); ++b) {
    for (std::size_t h = 0; h < x.size(1); ++h) {
      for (std::size_t l = 0; l < x.size(2); ++l) {
        const auto [n, r, floored] = normalised(x.row(b, h, l), kind, eps);
        const std::span<const T> dy_row = dy.row(b, h, l);
        for (std::size_t d = 0; d < D; ++d) {
          const auto incoming = static_cast<double>(dy_row[d]);
          a[d] = incoming * (gain.empty() ? 1 : static_cast<double>(gain(d)));
          dgain[d] += incoming * n[d];
        }
        const double mean = kind == QkNorm::layer ? mean_of(a) : 0;
        // How much of a points along n, which a row of fixed size cannot follow.
        double along = floored ? 0 : dot(a, n);
        if (kind != QkNorm::l2) along /= static_cast<double>(D);
        const auto dx = grad.x.row(b, h, l);
        for (std::size_t d = 0; d < D; ++d)
          dx[d] = static_cast<T>((a[d] - mean - n[d] * along) / r);
      }
    }
  }
  if (!gain.empty()) {
    grad.gain = Tensor<T, 1>::make({D});
    for (std::size_t d = 0; d < D; ++d) grad.gain(d) = static_cast<T>(dgain[d]);
  }
  return grad;
}

template QkNormGrad<float> qk_norm_grad(const Tensor<float, 4>&, const Tensor<float, 4>&, QkNorm,
                                        double, const Tensor<float, 1>&);
template QkNormGrad<double> qk_norm_grad(const Tensor<double, 4>&, const Tensor<double, 4>&, QkNorm,
                                         double, const Tensor<double, 1>&);

}  // namespace qkv
