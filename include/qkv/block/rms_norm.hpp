// Stages norm1 and norm2, before their gain: each token's channels brought to a mean square of 1.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// y[b,l,e] = x[b,l,e] / sqrt(mean_e x[b,l,e]^2 + eps)
///
/// shape   x (B,L,E) -> y (B,L,E)
/// range   the mean square in double; each row of y has a mean square of s/(s + eps)
/// edge    a row of zeros gives zeros; NaN in a row makes the whole row NaN
/// source  Zhang & Sennrich 2019 (arXiv:1910.07467), equation 4
template <class T>
Tensor<T, 3> rms_norm(const Tensor<T, 3>& x, double eps);

}  // namespace qkv
