// Stage heads: each query's mean of the values, weighted by attn.
#pragma once

#include "qkv/tensor/arithmetic.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// heads[b,h,l,e] = sum_s attn[b,h,l,s] * v[b,h/(H/G),s,e]
///
/// shape   attn (B,H,L,S), v (B,G,S,Dv) -> (B,H,L,Dv)
/// edge    a NaN in v reaches every query, also those whose weight for it is 0: 0*NaN is NaN
/// source  Vaswani et al. 2017 (arXiv:1706.03762), equation 1
template <class T>
Tensor<T, 4> weighted_sum(const Tensor<T, 4>& attn, const Tensor<T, 4>& v,
                          Arithmetic arithmetic = Arithmetic::native);

}  // namespace qkv
