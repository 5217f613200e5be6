// Stage scores: q*k^T.
#include "qkv/attention/scores.hpp"

#include "qkv/tensor/portable.hpp"

namespace qkv {

template <class T>
Tensor<T, 4> scores(const Tensor<T, 4>& q, const Tensor<T, 4>& k, Arithmetic arithmetic) {
  const std::size_t B = q.size(0), H = q.size(1), L = q.size(2), D = q.size(3);
  const std::size_t S = k.size(2), heads_per_group = H / k.size(1);
  auto y = Tensor<T, 4>::make({B, H, L, S});
  if (y.size() == 0) return y;
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t h = 0; h < H; ++h) {
      const std::size_t g = h / heads_per_group;
      // (L,D) * (S,D)^T
      matmul<T>(arithmetic, L, S, D, {q.data() + (b * H + h) * L * D, D},
                {k.data() + (b * k.size(1) + g) * S * D, D, Operand::transposed},
                y.data() + (b * H + h) * L * S, S);
    }
  }
  return y;
}

template Tensor<float, 4> scores(const Tensor<float, 4>&, const Tensor<float, 4>&, Arithmetic);
template Tensor<double, 4> scores(const Tensor<double, 4>&, const Tensor<double, 4>&, Arithmetic);

}  // namespace qkv
