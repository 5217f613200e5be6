// Stages norm1 and norm2: gain and bias.
#include "qkv/block/gain.hpp"

namespace qkv {

template <class T>
Tensor<T, 3> with_gain(const Tensor<T, 3>& y, const NormWeights<T>& weights) {
  if (weights.gain.empty() && weights.bias.empty()) return y;
  auto z = Tensor<T, 3>::make(y.sizes());
  for (std::size_t b = 0; b < y.size(0); ++b) {
    for (std::size_t l = 0; l < y.size(1); ++l) {
      const auto from = y.row(b, l);
      const auto to = z.row(b, l);
      for (std::size_t e = 0; e < from.size(); ++e) {
        const T gain = weights.gain.empty() ? T{1} : weights.gain(e);
        const T bias = weights.bias.empty() ? T{0} : weights.bias(e);
        to[e] = from[e] * gain + bias;
      }
    }
  }
  return z;
}

template Tensor<float, 3> with_gain(const Tensor<float, 3>&, const NormWeights<float>&);
template Tensor<double, 3> with_gain(const Tensor<double, 3>&, const NormWeights<double>&);

}  // namespace qkv
