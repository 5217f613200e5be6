// Heads: cutting the last axis into heads, and moving the head axis.
#include "qkv/attention/split_heads.hpp"

#include <algorithm>

namespace qkv {

template <class T>
Tensor<T, 4> split_heads(const Tensor<T, 3>& x, std::size_t heads) {
  const std::size_t B = x.size(0), L = x.size(1), D = x.size(2) / heads;
  return exchange_heads_and_length(x.template reshaped<4>({B, L, heads, D}));
}

template <class T>
Tensor<T, 4> exchange_heads_and_length(const Tensor<T, 4>& x) {
  const std::size_t B = x.size(0), L = x.size(1), H = x.size(2), D = x.size(3);
  // One axis of length 1 makes the exchange a change of shape only.
  if (H == 1 || L == 1) return x.template reshaped<4>({B, H, L, D});
  auto y = Tensor<T, 4>::make({B, H, L, D});
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t l = 0; l < L; ++l) {
      for (std::size_t h = 0; h < H; ++h) std::ranges::copy(x.row(b, l, h), y.row(b, h, l).begin());
    }
  }
  return y;
}

template Tensor<float, 4> split_heads(const Tensor<float, 3>&, std::size_t);
template Tensor<double, 4> split_heads(const Tensor<double, 3>&, std::size_t);
template Tensor<float, 4> exchange_heads_and_length(const Tensor<float, 4>&);
template Tensor<double, 4> exchange_heads_and_length(const Tensor<double, 4>&);

}  // namespace qkv
