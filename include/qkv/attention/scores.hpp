// Stage scores: how well each query fits each key.
#pragma once

#include "qkv/tensor/arithmetic.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// scores[b,h,l,s] = sum_d q[b,h,l,d] * k[b,h/(H/G),s,d]
///
/// shape   q (B,H,L,D), k (B,G,S,D) -> (B,H,L,S)
/// range   for unit-variance q and k the variance is D
/// source  Vaswani et al. 2017 (arXiv:1706.03762), equation 1; grouped heads as in ONNX
/// Attention-23 (repeat, not tile)
template <class T>
Tensor<T, 4> scores(const Tensor<T, 4>& q, const Tensor<T, 4>& k,
                    Arithmetic arithmetic = Arithmetic::native);

}  // namespace qkv
