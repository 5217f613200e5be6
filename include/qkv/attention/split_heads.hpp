// Heads: cutting the last axis into heads, and moving the head axis.
#pragma once

#include <cstddef>

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// y[b,h,l,d] = x[b,l,h*D+d]: head h owns channels h*D .. h*D+D-1. A reshape to (B,L,H,D), then
/// axes 1 and 2 exchanged; a plain reshape to (B,H,L,D) would mix the positions.
///
/// shape   x (B,L,H*D) -> (B,H,L,D)
template <class T>
Tensor<T, 4> split_heads(const Tensor<T, 3>& x, std::size_t heads);

/// Exchanges axes 1 and 2: (B,L,H,D) -> (B,H,L,D) and back.
template <class T>
Tensor<T, 4> exchange_heads_and_length(const Tensor<T, 4>& x);

}  // namespace qkv
