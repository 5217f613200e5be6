// Stages norm1 and norm2, before their gain: mean square 1.
#include "qkv/block/rms_norm.hpp"

#include <cmath>

namespace qkv {

template <class T>
Tensor<T, 3> rms_norm(const Tensor<T, 3>& x, double eps) {
  auto y = Tensor<T, 3>::make(x.sizes());
  const auto width = static_cast<double>(x.size(2));
  for (std::size_t b = 0; b < x.size(0); ++b) {
    for (std::size_t l = 0; l < x.size(1); ++l) {
      const auto from = x.row(b, l);
      const auto to = y.row(b, l);
      double mean_square = 0;
      for (const T value : from)
        mean_square += static_cast<double>(value) * static_cast<double>(value) / width;
      const double divisor = std::sqrt(mean_square + eps);
      for (std::size_t e = 0; e < from.size(); ++e)
        to[e] = static_cast<T>(static_cast<double>(from[e]) / divisor);
    }
  }
  return y;
}

template Tensor<float, 3> rms_norm(const Tensor<float, 3>&, double);
template Tensor<double, 3> rms_norm(const Tensor<double, 3>&, double);

}  // namespace qkv
