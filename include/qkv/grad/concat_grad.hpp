// Back through concat: each head takes its own channels again.
#pragma once

#include <cstddef>

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// dheads[b,h,l,e] = dconcat[b,l,h*Dv+e]
///
/// shape   (B,L,H*Dv) -> (B,H,L,Dv)
template <class T>
Tensor<T, 4> concat_grad(const Tensor<T, 3>& dconcat, std::size_t H);

}  // namespace qkv
