// Back through concat = the heads side by side.
#include "qkv/grad/concat_grad.hpp"

#include "qkv/attention/split_heads.hpp"

namespace qkv {

template <class T>
Tensor<T, 4> concat_grad(const Tensor<T, 3>& dconcat, std::size_t H) {
  return split_heads(dconcat, H);
}

template Tensor<float, 4> concat_grad(const Tensor<float, 3>&, std::size_t);
template Tensor<double, 4> concat_grad(const Tensor<double, 3>&, std::size_t);

}  // namespace qkv
