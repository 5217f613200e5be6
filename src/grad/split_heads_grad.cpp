// Back through y = the heads of x.
#include "qkv/grad/split_heads_grad.hpp"

#include "qkv/attention/concat.hpp"

namespace qkv {

template <class T>
Tensor<T, 3> split_heads_grad(const Tensor<T, 4>& dy) {
  return concat(dy);
}

template Tensor<float, 3> split_heads_grad(const Tensor<float, 4>&);
template Tensor<double, 3> split_heads_grad(const Tensor<double, 4>&);

}  // namespace qkv
