// Stages norm1 and norm2, before their gain: each token's channels brought to mean 0, variance 1.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// y[b,l,e] = (x[b,l,e] - m) / sqrt(v + eps),  m = mean_e x[b,l,e],  v = mean_e (x[b,l,e] - m)^2
///
/// shape   x (B,L,E) -> y (B,L,E)
/// range   moments in double; each row of y has mean 0 and variance v/(v + eps)
/// edge    a row of equal numbers gives zeros; NaN or Inf in a row makes the whole row NaN
/// source  Ba, Kiros & Hinton 2016 (arXiv:1607.06450), section 3
template <class T>
Tensor<T, 3> layer_norm(const Tensor<T, 3>& x, double eps);

}  // namespace qkv
