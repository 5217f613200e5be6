// Back through y = rope(x).
#include "qkv/grad/rope_grad.hpp"

#include "qkv/attention/rope.hpp"

namespace qkv {

template <class T>
Tensor<T, 4> rope_grad(const Tensor<T, 4>& dy, const Tensor<double, 2>& positions, double base,
                       RopeStyle style, std::size_t rope_dim) {
  Tensor<double, 2> backwards = positions.clone();
  for (double& position : backwards.elements()) position = -position;
  return rope(dy, backwards, base, style, rope_dim);
}

template Tensor<float, 4> rope_grad(const Tensor<float, 4>&, const Tensor<double, 2>&, double,
                                    RopeStyle, std::size_t);
template Tensor<double, 4> rope_grad(const Tensor<double, 4>&, const Tensor<double, 2>&, double,
                                     RopeStyle, std::size_t);

}  // namespace qkv
