// Stage concat: the heads side by side again.
#include "qkv/attention/concat.hpp"

#include "qkv/attention/split_heads.hpp"

namespace qkv {

template <class T>
Tensor<T, 3> concat(const Tensor<T, 4>& heads) {
  const std::size_t B = heads.size(0), H = heads.size(1), L = heads.size(2), Dv = heads.size(3);
  // (B,H,L,Dv) -> (B,L,H,Dv), whose last two axes lie side by side
  return exchange_heads_and_length(heads).template reshaped<3>({B, L, H * Dv});
}

template Tensor<float, 3> concat(const Tensor<float, 4>&);
template Tensor<double, 3> concat(const Tensor<double, 4>&);

}  // namespace qkv
