// Back through q_rope and k_rope: turned back by the same angle.
#pragma once

#include "qkv/attention/settings.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// da = cos(t)*da' + sin(t)*db',  db = -sin(t)*da' + cos(t)*db': the rotation by -t, the transposed
/// matrix of the rotation by t. Channels from rope_dim on pass.
///
/// shape   dy (B,H,L,D), positions (B or 1, L) -> (B,H,L,D)
template <class T>
Tensor<T, 4> rope_grad(const Tensor<T, 4>& dy, const Tensor<double, 2>& positions, double base,
                       RopeStyle style, std::size_t rope_dim);

}  // namespace qkv
