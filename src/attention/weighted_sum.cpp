// Stage heads: attn*v.
#include "qkv/attention/weighted_sum.hpp"

#include "qkv/tensor/portable.hpp"

namespace qkv {

template <class T>
Tensor<T, 4> weighted_sum(const Tensor<T, 4>& attn, const Tensor<T, 4>& v, Arithmetic arithmetic) {
  const std::size_t B = attn.size(0), H = attn.size(1), L = attn.size(2), S = attn.size(3);
  const std::size_t Dv = v.size(3), heads_per_group = H / v.size(1);
  auto y = Tensor<T, 4>::make({B, H, L, Dv});
  if (y.size() == 0) return y;
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t h = 0; h < H; ++h) {
      const std::size_t g = h / heads_per_group;
      // (L,S) * (S,Dv)
      matmul<T>(arithmetic, L, Dv, S, {attn.data() + (b * H + h) * L * S, S},
                {v.data() + (b * v.size(1) + g) * S * Dv, Dv}, y.data() + (b * H + h) * L * Dv, Dv);
    }
  }
  return y;
}

template Tensor<float, 4> weighted_sum(const Tensor<float, 4>&, const Tensor<float, 4>&,
                                       Arithmetic);
template Tensor<double, 4> weighted_sum(const Tensor<double, 4>&, const Tensor<double, 4>&,
                                        Arithmetic);

}  // namespace qkv
