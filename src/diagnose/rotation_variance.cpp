// What the rotation of queries and keys makes of their rounding errors, and adds to them.
#include "diagnose/rotation_variance.hpp"

#include <algorithm>
#include <cmath>

namespace qkv {

namespace {

/// Of a number of size 1: evenly spread over one step of 2^-23.
constexpr double float32_variance = 0x1p-46 / 12;

}  // namespace

Tensor<double, 4> angle_variance(const Tensor<double, 4>& x, const Tensor<double, 2>& positions) {
  auto variance = Tensor<double, 4>::make(x.sizes());
  for (std::size_t b = 0; b < x.size(0); ++b) {
    const std::size_t at = positions.size(0) == 1 ? 0 : b;
    for (std::size_t h = 0; h < x.size(1); ++h) {
      for (std::size_t l = 0; l < x.size(2); ++l) {
        double largest = 0;
        for (const double v : x.row(b, h, l))
          largest = std::max(largest, std::isfinite(v) ? std::abs(v) : 0);
        const bool known = l < positions.size(1) && at < positions.size(0);
        const double position = known ? positions(at, l) : 0;
        const double angle = float32_variance * (1 + position * position) * largest * largest;
        for (double& v : variance.row(b, h, l)) v = 2 * angle;
      }
    }
  }
  return variance;
}

Tensor<double, 4> rotation_variance(const Tensor<double, 4>& x, const Tensor<double, 4>& variance,
                                    const Tensor<double, 2>& positions) {
  Tensor<double, 4> rotated = angle_variance(x, positions);
  for (std::size_t b = 0; b < x.size(0); ++b) {
    for (std::size_t h = 0; h < x.size(1); ++h) {
      for (std::size_t l = 0; l < x.size(2); ++l) {
        // A rotation moves errors within its pair; a row's greatest bounds both.
        double worst = 0;
        for (const double v : variance.row(b, h, l)) worst = std::max(worst, v);
        for (double& v : rotated.row(b, h, l)) v += worst;
      }
    }
  }
  return rotated;
}

}  // namespace qkv
