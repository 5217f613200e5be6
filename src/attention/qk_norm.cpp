// Stages q_norm and k_norm: each head's query and key brought to one size, before rotation.
#include "qkv/attention/qk_norm.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace qkv {

namespace {

/// What a row is divided by after `mean` has been taken off it.
template <class T>
double divisor(std::span<const T> row, double mean, QkNorm kind, double eps) {
  double squares = 0;
  for (const T value : row) {
    const double centred = static_cast<double>(value) - mean;
    squares += centred * centred;
  }
  if (kind == QkNorm::l2) {
    const double length = std::sqrt(squares);
    return length < eps ? eps : length;  // a NaN stays one
  }
  return std::sqrt(squares / static_cast<double>(row.size()) + eps);
}

}  // namespace

template <class T>
Tensor<T, 4> qk_norm(const Tensor<T, 4>& x, QkNorm kind, double eps, const Tensor<T, 1>& gain) {
  auto y = Tensor<T, 4>::make(x.sizes());
  for (std::size_t b = 0; b < x.size(0); ++b) {
    for (std::size_t h = 0; h < x.size(1); ++h) {
      for (std::size_t l = 0; l < x.size(2); ++l) {
        const std::span<const T> from = x.row(b, h, l);
        const auto to = y.row(b, h, l);
        double mean = 0;
        if (kind == QkNorm::layer) {
          for (const T value : from) mean += static_cast<double>(value);
          mean /= static_cast<double>(from.size());
        }
        const double by = divisor(from, mean, kind, eps);
        for (std::size_t d = 0; d < from.size(); ++d) {
          const double factor = gain.empty() ? 1 : static_cast<double>(gain(d));
          to[d] = static_cast<T>((static_cast<double>(from[d]) - mean) / by * factor);
        }
      }
    }
  }
  return y;
}

template Tensor<float, 4> qk_norm(const Tensor<float, 4>&, QkNorm, double, const Tensor<float, 1>&);
template Tensor<double, 4> qk_norm(const Tensor<double, 4>&, QkNorm, double,
                                   const Tensor<double, 1>&);

}  // namespace qkv
