// Back through heads: the gradients of attn and v in heads = attn*v.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

template <class T>
struct WeightedSumGrad {
  Tensor<T, 4> attn = {};  ///< (B,H,L,S)
  Tensor<T, 4> v = {};     ///< (B,G,S,Dv), the cache included
};

/// dattn[b,h,l,s] = sum_e dheads[b,h,l,e] * v[b,g,s,e],                    g = h/(H/G)
/// dv[b,g,s,e]    = sum_{h of g} sum_l attn[b,h,l,s] * dheads[b,h,l,e]
///
/// shape   dheads (B,H,L,Dv), attn (B,H,L,S), v (B,G,S,Dv)
/// edge    dattn is not 0 where attn is: a hidden key's gradient ends in the softmax
template <class T>
WeightedSumGrad<T> weighted_sum_grad(const Tensor<T, 4>& dheads, const Tensor<T, 4>& attn,
                                     const Tensor<T, 4>& v);

}  // namespace qkv
