// Back through the split into heads: they lie side by side again.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// dx[b,l,h*D+d] = dy[b,h,l,d]
///
/// shape   (B,H,L,D) -> (B,L,H*D)
template <class T>
Tensor<T, 3> split_heads_grad(const Tensor<T, 4>& dy);

}  // namespace qkv
