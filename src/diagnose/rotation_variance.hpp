// What the rotation of queries and keys makes of their rounding errors, and adds to them.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// What angles in float32 do to a rotation of x (B,H,L,D) by positions (B or 1, L): they are off
/// by eps of the position in radians.
Tensor<double, 4> angle_variance(const Tensor<double, 4>& x, const Tensor<double, 2>& positions);

/// The same, and the variance of x: a rotation moves errors within a row.
///
/// shape   x and its variance (B,H,L,D) -> (B,H,L,D)
Tensor<double, 4> rotation_variance(const Tensor<double, 4>& x, const Tensor<double, 4>& variance,
                                    const Tensor<double, 2>& positions);

}  // namespace qkv
