// Back through scaled = scores*factor.
#include "qkv/grad/scale_grad.hpp"

#include "qkv/attention/scale.hpp"

namespace qkv {

template <class T>
Tensor<T, 4> scale_grad(const Tensor<T, 4>& dscaled, double factor) {
  return scale(dscaled, factor);
}

template Tensor<float, 4> scale_grad(const Tensor<float, 4>&, double);
template Tensor<double, 4> scale_grad(const Tensor<double, 4>&, double);

}  // namespace qkv
