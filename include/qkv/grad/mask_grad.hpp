// Back through masked: what is hidden gets no gradient.
#pragma once

#include "qkv/attention/visibility.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// dx[b,h,l,s] = dmasked[b,h,l,s] where query l sees key s, else 0, whatever the fill. Biases by
/// distance (ALiBi) are added, and change nothing here.
///
/// shape   (B,H,L,S) -> (B,H,L,S)
/// edge    dmasked may not be 0 at a hidden score, where its fill is finite and keeps some weight
template <class T>
Tensor<T, 4> mask_grad(const Tensor<T, 4>& dmasked, const Visibility<T>& visibility);

/// dadded = dx summed over the axes along which the float mask was broadcast.
///
/// shape   dx (B,H,L,S) -> the shape of `added`, each axis 1 or full
/// range   summed in double
template <class T>
Tensor<T, 4> added_grad(const Tensor<T, 4>& dx, const Tensor<T, 4>& added);

}  // namespace qkv
