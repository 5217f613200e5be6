// precision(): stages rounded to a 16-bit type, though kept in a wider one.
#pragma once

#include <vector>

#include "half.hpp"
#include "qkv/diagnose/case.hpp"
#include "qkv/diagnose/fault.hpp"

namespace qkv::faults {

/// The places where half-precision code rounds: everywhere; all but the logits, which fused kernels
/// keep in float32; the inputs alone; from the weights on; the weights alone.
///
/// A coarser tolerance would excuse any small mistake, so a variant needs evidence: a stage that
/// differs from the right one and holds numbers of this type only, or rounding at these very places
/// that takes away three quarters of the squared difference.
std::vector<Variant> precision(const Case& the_case, const Half& half);

}  // namespace qkv::faults
