// What the normalisation of queries and keys makes of their rounding errors.
#pragma once

#include "qkv/attention/problem.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// y = g·(x - m)/r, u = (x - m)/r: dy_d = g/r·(dx_d - dm - u_d·sum_j u_j·dx_j / n), where n is D
/// (rms, layer) or 1 (l2) and m is 0 but for layer; to first order, errors independent.
///
/// shape   x, its variance and y (B,H,L,D) -> (B,H,L,D); zeros where the shapes do not agree
Tensor<double, 4> norm_variance(const Tensor<double, 4>& x, const Tensor<double, 4>& variance,
                                const Tensor<double, 4>& y, const Problem<double>& problem);

}  // namespace qkv
