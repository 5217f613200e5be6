// Stages q_norm and k_norm: each head's query and key brought to one size, before rotation.
#pragma once

#include "qkv/attention/settings.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// Over the D channels of each row x:
///   rms     x / sqrt(mean(x^2) + eps) * gain
///   layer   (x - mean(x)) / sqrt(var(x) + eps) * gain, the variance divided by D
///   l2      x / max(sqrt(sum(x^2)), eps) * gain
///
/// shape   x (B,H,L,D), gain (D) or empty for ones -> (B,H,L,D)
/// range   moments in double
/// source  Henry et al. 2020 (arXiv:2010.04245) for l2; Zhang & Sennrich 2019 (arXiv:1910.07467)
///         for rms, Ba et al. 2016 (arXiv:1607.06450) for layer
template <class T>
Tensor<T, 4> qk_norm(const Tensor<T, 4>& x, QkNorm kind, double eps, const Tensor<T, 1>& gain);

}  // namespace qkv
