// Stages q_rope and k_rope: rotary position embedding.
#pragma once

#include <cstddef>

#include "qkv/attention/settings.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// Rotates pairs (a, b) of the first n = rope_dim channels by the angle t = position *
/// base^(-2i/n), i = 0 .. n/2-1:
///   a' = cos(t)*a - sin(t)*b,   b' = sin(t)*a + cos(t)*b
/// half: the pair is (x[i], x[i+n/2]); interleaved: (x[2i], x[2i+1]). Channels from n on pass.
///
/// shape   x (B,H,L,D), positions (B or 1, L) -> (B,H,L,D)
/// range   positions in tokens, angles in radians (computed in double)
/// source  Su et al. 2021 (arXiv:2104.09864); ONNX RotaryEmbedding-23
template <class T>
Tensor<T, 4> rope(const Tensor<T, 4>& x, const Tensor<double, 2>& positions, double base,
                  RopeStyle style, std::size_t rope_dim);

/// The same rotation with cosines and sines from tables.
///
/// shape   x (B,H,L,D), cosines and sines (B or 1, L, n/2) -> (B,H,L,D)
template <class T>
Tensor<T, 4> rotate(const Tensor<T, 4>& x, const Tensor<double, 3>& cosines,
                    const Tensor<double, 3>& sines, RopeStyle style);

}  // namespace qkv
