// Back through dropped: the weights that were kept pass their gradient on, enlarged alike.
#pragma once

#include <cstdint>

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// dattn = ddropped / (1 - p) where the weight was kept, else 0: the same pattern as forward.
///
/// shape   (B,H,L,S) -> (B,H,L,S)
template <class T>
Tensor<T, 4> dropout_grad(const Tensor<T, 4>& ddropped, double p, std::uint64_t seed);

}  // namespace qkv
