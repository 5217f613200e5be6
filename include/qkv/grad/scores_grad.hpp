// Back through scores: the gradients of q and k in scores = q*k^T.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

template <class T>
struct ScoresGrad {
  Tensor<T, 4> q = {};  ///< (B,H,L,D)
  Tensor<T, 4> k = {};  ///< (B,G,S,D), the cache included
};

/// dq[b,h,l,d] = sum_s dscores[b,h,l,s] * k[b,g,s,d],                      g = h/(H/G)
/// dk[b,g,s,d] = sum_{h of g} sum_l dscores[b,h,l,s] * q[b,h,l,d]
///
/// shape   dscores (B,H,L,S), q (B,H,L,D), k (B,G,S,D)
template <class T>
ScoresGrad<T> scores_grad(const Tensor<T, 4>& dscores, const Tensor<T, 4>& q,
                          const Tensor<T, 4>& k);

}  // namespace qkv
