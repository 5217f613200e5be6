// What the softmax makes of the rounding errors of its logits.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// a_i = e^x_i / sum e^x: da_i = a_i (dx_i - sum_j a_j dx_j)
///
/// shape   x, its variance and a (B,H,L,S) -> (B,H,L,S)
/// own     relative variance that the softmax itself adds to each weight
/// edge    hidden keys (x = -inf) and weights that are not finite have none
Tensor<double, 4> softmax_variance(const Tensor<double, 4>& logits,
                                   const Tensor<double, 4>& variance, const Tensor<double, 4>& attn,
                                   double own);

}  // namespace qkv
