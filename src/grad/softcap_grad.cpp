// Back through capped = C*tanh(scaled/C).
#include "qkv/grad/softcap_grad.hpp"

namespace qkv {

template <class T>
Tensor<T, 4> softcap_grad(const Tensor<T, 4>& dcapped, const Tensor<T, 4>& capped, double cap) {
  auto dscaled = Tensor<T, 4>::make(dcapped.sizes());
  const T C = static_cast<T>(cap);
  for (std::size_t n = 0; n < dscaled.size(); ++n) {
    const T t = capped.data()[n] / C;
    // (1-t)*(1+t) keeps digits near the cap that 1 - t*t would lose.
    dscaled.data()[n] = dcapped.data()[n] * ((1 - t) * (1 + t));
  }
  return dscaled;
}

template Tensor<float, 4> softcap_grad(const Tensor<float, 4>&, const Tensor<float, 4>&, double);
template Tensor<double, 4> softcap_grad(const Tensor<double, 4>&, const Tensor<double, 4>&, double);

}  // namespace qkv
