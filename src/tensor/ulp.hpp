// ULP: how many representable numbers of a float type lie between two values.
#pragma once

#include <cstdint>

#include "qkv/tensor/dtype.hpp"

namespace qkv {

/// Steps from a to b in `type`, after both are rounded to it; +0 and -0 are one number, infinity is
/// one step beyond the largest. Neither may be NaN.
std::uint64_t ulp_distance(double a, double b, DType type);

}  // namespace qkv
