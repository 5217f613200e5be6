// Back through scores = q*k^T.
#include "qkv/grad/scores_grad.hpp"

#include "qkv/tensor/matmul.hpp"

namespace qkv {

template <class T>
ScoresGrad<T> scores_grad(const Tensor<T, 4>& dscores, const Tensor<T, 4>& q,
                          const Tensor<T, 4>& k) {
  const std::size_t B = q.size(0), H = q.size(1), L = q.size(2), D = q.size(3);
  const std::size_t G = k.size(1), S = k.size(2);
  // As for the values: to its key head, a group's queries are one long sequence.
  const std::size_t queries = H / G * L;
  ScoresGrad<T> grad{Tensor<T, 4>::make(q.sizes()), Tensor<T, 4>::make(k.sizes())};
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t g = 0; g < G; ++g) {
      const std::size_t group = b * G + g;
      const T* dscores_of = dscores.data() + group * queries * S;
      // (queries,S) * (S,D)
      matmul(queries, D, S, {dscores_of, S}, {k.data() + group * S * D, D},
             grad.q.data() + group * queries * D, D);
      // (queries,S)^T * (queries,D)
      matmul(S, D, queries, {dscores_of, S, Operand::transposed},
             {q.data() + group * queries * D, D}, grad.k.data() + group * S * D, D);
    }
  }
  return grad;
}

template ScoresGrad<float> scores_grad(const Tensor<float, 4>&, const Tensor<float, 4>&,
                                       const Tensor<float, 4>&);
template ScoresGrad<double> scores_grad(const Tensor<double, 4>&, const Tensor<double, 4>&,
                                        const Tensor<double, 4>&);

}  // namespace qkv
