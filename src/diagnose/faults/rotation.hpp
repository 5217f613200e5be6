// Rotation: the positions of a problem, and rotating a stage by other ones.
#pragma once

#include "qkv/diagnose/alteration.hpp"

namespace qkv {

/// Rotates x (B,H,L,D) as the held problem's settings say; x itself where the positions are not
/// its own, as another mistake may have it.
Tensor<double, 4> rotated(const Held& held, const Tensor<double, 4>& x,
                          const Tensor<double, 2>& positions);

/// The same with another number of channels.
Tensor<double, 4> rotated(const Held& held, const Tensor<double, 4>& x,
                          const Tensor<double, 2>& positions, std::size_t rope_dim);

/// start, start+1, ... start+count-1, for every batch row.
Tensor<double, 2> counted_positions(std::size_t count, double start);

/// Every position moved by `shift`.
Tensor<double, 2> shifted(const Tensor<double, 2>& positions, double shift);

std::size_t rotating_channels(const Problem<double>& problem);

}  // namespace qkv
