// Back through q_norm and k_norm: the gradients of each head's query or key, and of the gain.
#pragma once

#include "qkv/attention/settings.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

template <class T>
struct QkNormGrad {
  Tensor<T, 4> x = {};     ///< (B,H,L,D)
  Tensor<T, 1> gain = {};  ///< (D), empty without a gain
};

/// With y = n*gain, n = (x - mean)/r as qk_norm() has them, and a = dy*gain, over the D channels of
/// each row:
///   rms     dx = (a - n*mean(a*n)) / r
///   layer   dx = (a - mean(a) - n*mean(a*n)) / r
///   l2      dx = (a - n*sum(a*n)) / r,  a/r where eps took the place of the length
///   dgain[d] = sum_{b,h,l} dy[b,h,l,d] * n[b,h,l,d]
///
/// shape   dy, x (B,H,L,D), gain (D) or empty for ones
/// range   in double
template <class T>
QkNormGrad<T> qk_norm_grad(const Tensor<T, 4>& dy, const Tensor<T, 4>& x, QkNorm kind, double eps,
                           const Tensor<T, 1>& gain);

}  // namespace qkv
