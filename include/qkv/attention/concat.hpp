// Stage concat: the heads side by side again.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// concat[b,l,h*Dv+e] = heads[b,h,l,e]
///
/// shape   (B,H,L,Dv) -> (B,L,H*Dv)
/// source  Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.2
template <class T>
Tensor<T, 3> concat(const Tensor<T, 4>& heads);

}  // namespace qkv
