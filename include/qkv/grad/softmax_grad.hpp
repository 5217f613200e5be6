// Back through attn: the gradients of the logits and of the sinks in the softmax.
#pragma once

#include "qkv/attention/visibility.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

template <class T>
struct SoftmaxGrad {
  Tensor<T, 4> logits = {};  ///< (B,H,L,S)
  Tensor<T, 1> sinks = {};   ///< (H), empty without sinks
};

/// dx[b,h,l,s]  = attn[b,h,l,s] * (dattn[b,h,l,s] - r[b,h,l]),  r = sum_s attn[b,h,l,s] *
/// dattn[b,h,l,s] dsinks[h]    = -sum_{b,l} p[b,h,l] * r[b,h,l],  p = 1/(1 + exp(lse - sinks[h])),
/// lse that of x
///
/// shape   dattn, attn, x (B,H,L,S), sinks (H) or empty
/// range   r and the sums over rows in double; |dx| <= |dattn - r|/4 where attn is 1/2, and 0 where
///         it is 0 or 1: a saturated softmax lets nothing through
/// edge    a row that sees no key has weights by agreement, not from its logits: its dx is 0, and
///         so is its part of dsinks
template <class T>
SoftmaxGrad<T> softmax_grad(const Tensor<T, 4>& dattn, const Tensor<T, 4>& attn,
                            const Tensor<T, 4>& x, const Tensor<T, 1>& sinks,
                            const Visibility<T>& visibility);

}  // namespace qkv
