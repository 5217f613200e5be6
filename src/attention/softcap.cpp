// Stage capped: C * tanh(scaled / C).
#include "qkv/attention/softcap.hpp"

#include <algorithm>
#include <cmath>

#include "qkv/tensor/portable.hpp"

namespace qkv {

template <class T>
Tensor<T, 4> softcap(const Tensor<T, 4>& scaled, double cap, Arithmetic arithmetic) {
  auto y = Tensor<T, 4>::make(scaled.sizes());
  if (arithmetic == Arithmetic::native) {
    std::ranges::transform(scaled.elements(), y.elements().begin(),
                           [c = static_cast<T>(cap)](T x) { return c * std::tanh(x / c); });
  } else {
    std::ranges::transform(scaled.elements(), y.elements().begin(), [cap](T x) {
      return static_cast<T>(cap * portable_tanh(static_cast<double>(x) / cap));
    });
  }
  return y;
}

template Tensor<float, 4> softcap(const Tensor<float, 4>&, double, Arithmetic);
template Tensor<double, 4> softcap(const Tensor<double, 4>&, double, Arithmetic);

}  // namespace qkv
