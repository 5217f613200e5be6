// Stages q_rope and k_rope: rotary position embedding.
#include "qkv/attention/rope.hpp"

#include <algorithm>
#include <cmath>

namespace qkv {

template <class T>
Tensor<T, 4> rotate(const Tensor<T, 4>& x, const Tensor<double, 3>& cosines,
                    const Tensor<double, 3>& sines, RopeStyle style) {
  const std::size_t B = x.size(0), H = x.size(1), L = x.size(2), pairs = cosines.size(2);
  auto y = x.clone();  // channels that do not rotate pass
  for (std::size_t b = 0; b < B; ++b) {
    const std::size_t row = cosines.size(0) == 1 ? 0 : b;
    for (std::size_t h = 0; h < H; ++h) {
      for (std::size_t l = 0; l < L; ++l) {
        for (std::size_t i = 0; i < pairs; ++i) {
          const std::size_t first = style == RopeStyle::half ? i : 2 * i;
          const std::size_t second = style == RopeStyle::half ? i + pairs : 2 * i + 1;
          const double c = cosines(row, l, i), s = sines(row, l, i);
          const auto a = static_cast<double>(x(b, h, l, first)),
                     z = static_cast<double>(x(b, h, l, second));
          y(b, h, l, first) = static_cast<T>(c * a - s * z);
          y(b, h, l, second) = static_cast<T>(s * a + c * z);
        }
      }
    }
  }
  return y;
}

template <class T>
Tensor<T, 4> rope(const Tensor<T, 4>& x, const Tensor<double, 2>& positions, double base,
                  RopeStyle style, std::size_t rope_dim) {
  const std::size_t rows = positions.size(0), L = positions.size(1), pairs = rope_dim / 2;
  auto cosines = Tensor<double, 3>::make({rows, L, pairs});
  auto sines = Tensor<double, 3>::make({rows, L, pairs});
  for (std::size_t b = 0; b < rows; ++b) {
    for (std::size_t l = 0; l < L; ++l) {
      for (std::size_t i = 0; i < pairs; ++i) {
        const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(rope_dim);
        // The library's last bit of a double may differ by CPU; in float16 and bfloat16 that is
        // seen only where a result lies within 2^-52 of where rounding turns.
        const double angle = positions(b, l) * std::pow(base, exponent);
        cosines(b, l, i) = std::cos(angle);
        sines(b, l, i) = std::sin(angle);
      }
    }
  }
  return rotate(x, cosines, sines, style);
}

template Tensor<float, 4> rotate(const Tensor<float, 4>&, const Tensor<double, 3>&,
                                 const Tensor<double, 3>&, RopeStyle);
template Tensor<double, 4> rotate(const Tensor<double, 4>&, const Tensor<double, 3>&,
                                  const Tensor<double, 3>&, RopeStyle);
template Tensor<float, 4> rope(const Tensor<float, 4>&, const Tensor<double, 2>&, double, RopeStyle,
                               std::size_t);
template Tensor<double, 4> rope(const Tensor<double, 4>&, const Tensor<double, 2>&, double,
                                RopeStyle, std::size_t);

}  // namespace qkv
