// Back through heads = attn*v.
#include "qkv/grad/weighted_sum_grad.hpp"

#include "qkv/tensor/matmul.hpp"

namespace qkv {

template <class T>
WeightedSumGrad<T> weighted_sum_grad(const Tensor<T, 4>& dheads, const Tensor<T, 4>& attn,
                                     const Tensor<T, 4>& v) {
  const std::size_t B = attn.size(0), H = attn.size(1), L = attn.size(2), S = attn.size(3);
  const std::size_t G = v.size(1), Dv = v.size(3);
  // The queries of a group's heads lie one behind the other: to their key/value head they are one
  // long sequence, over which its gradient sums.
  const std::size_t queries = H / G * L;
  WeightedSumGrad<T> grad{Tensor<T, 4>::make(attn.sizes()), Tensor<T, 4>::make(v.sizes())};
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t g = 0; g < G; ++g) {
      const std::size_t group = b * G + g;
      const T* dheads_of = dheads.data() + group * queries * Dv;
      const T* attn_of = attn.data() + group * queries * S;
      // (queries,Dv) * (S,Dv)^T
      matmul(queries, S, Dv, {dheads_of, Dv}, {v.data() + group * S * Dv, Dv, Operand::transposed},
             grad.attn.data() + group * queries * S, S);
      // (queries,S)^T * (queries,Dv)
      matmul(S, Dv, queries, {attn_of, S, Operand::transposed}, {dheads_of, Dv},
             grad.v.data() + group * S * Dv, Dv);
    }
  }
  return grad;
}

template WeightedSumGrad<float> weighted_sum_grad(const Tensor<float, 4>&, const Tensor<float, 4>&,
                                                  const Tensor<float, 4>&);
template WeightedSumGrad<double> weighted_sum_grad(const Tensor<double, 4>&,
                                                   const Tensor<double, 4>&,
                                                   const Tensor<double, 4>&);

}  // namespace qkv
