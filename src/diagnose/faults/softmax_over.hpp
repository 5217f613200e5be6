// softmax_over(): softmax over any set of axes.
#pragma once

#include <array>
#include <limits>

#include "qkv/attention/visibility.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv::faults {

/// Which axes of (B,H,L,S) one softmax runs over together.
using Axes = std::array<bool, 4>;

inline constexpr Axes over_keys = {false, false, false, true};

/// y = exp(x - m) / sum exp(x - m), greatest m and sum over all elements that differ in `axes` only
///
/// edge    elements that are all -Inf together give `of_nothing`: NaN, as (-Inf) - (-Inf) does
Tensor<double, 4> softmax_over(const Tensor<double, 4>& x, const Axes& axes,
                               double of_nothing = std::numeric_limits<double>::quiet_NaN());

/// True where some softmax over these axes would see hidden scores only.
bool hides_all_together(const Visibility<double>& visibility, const Axes& axes);

/// The elements that are NaN replaced by `value`.
Tensor<double, 4> without_nan(const Tensor<double, 4>& x, double value);

}  // namespace qkv::faults
