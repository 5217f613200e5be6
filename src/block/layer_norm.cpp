// Stages norm1 and norm2, before their gain: mean 0 and variance 1.
#include "qkv/block/layer_norm.hpp"

#include <cmath>

namespace qkv {

template <class T>
Tensor<T, 3> layer_norm(const Tensor<T, 3>& x, double eps) {
  auto y = Tensor<T, 3>::make(x.sizes());
  const auto width = static_cast<double>(x.size(2));
  for (std::size_t b = 0; b < x.size(0); ++b) {
    for (std::size_t l = 0; l < x.size(1); ++l) {
      const auto from = x.row(b, l);
      const auto to = y.row(b, l);
      double mean = 0;
      for (const T value : from) mean += static_cast<double>(value) / width;
      // What the sum lost comes back: a mean far from zero does not spoil the rest.
      double lost = 0;
      for (const T value : from) lost += static_cast<double>(value) - mean;
      mean += lost / width;
      double variance = 0;
      for (const T value : from) {
        const double centred = static_cast<double>(value) - mean;
        variance += centred * centred / width;
      }
      const double divisor = std::sqrt(variance + eps);
      for (std::size_t e = 0; e < from.size(); ++e)
        to[e] = static_cast<T>((static_cast<double>(from[e]) - mean) / divisor);
    }
  }
  return y;
}

template Tensor<float, 3> layer_norm(const Tensor<float, 3>&, double);
template Tensor<double, 3> layer_norm(const Tensor<double, 3>&, double);

}  // namespace qkv
