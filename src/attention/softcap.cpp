// Stage capped: C * tanh(scaled / C).
#include "qkv/attention/softcap.hpp"

#include <algorithm>
#include <cmath>

namespace qkv {

template <class T>
Tensor<T, 4> softcap(const Tensor<T, 4>& scaled, double cap) {
  auto y = Tensor<T, 4>::make(scaled.sizes());
  std::ranges::transform(scaled.elements(), y.elements().begin(),
                         [c = static_cast<T>(cap)](T x) { return c * std::tanh(x / c); });
  return y;
}

template Tensor<float, 4> softcap(const Tensor<float, 4>&, double);
template Tensor<double, 4> softcap(const Tensor<double, 4>&, double);

}  // namespace qkv
