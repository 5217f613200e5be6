// Back through capped: a score near the cap moves little, and so does its gradient.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// dscaled = dcapped * (1 - (capped/C)^2), the derivative of C*tanh(scaled/C)
///
/// shape   (B,H,L,S) -> (B,H,L,S)
template <class T>
Tensor<T, 4> softcap_grad(const Tensor<T, 4>& dcapped, const Tensor<T, 4>& capped, double cap);

}  // namespace qkv
