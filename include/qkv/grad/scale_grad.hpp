// Back through scaled: the same factor again.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// dscores = dscaled * factor
///
/// shape   (B,H,L,S) -> (B,H,L,S)
template <class T>
Tensor<T, 4> scale_grad(const Tensor<T, 4>& dscaled, double factor);

}  // namespace qkv
