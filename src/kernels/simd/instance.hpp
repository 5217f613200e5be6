// The table of functions of one instruction set, that of the translation unit that includes this.
#pragma once

#include "kernels/simd/finite.hpp"
#include "kernels/simd/functions.hpp"
#include "kernels/simd/tiled_rows.hpp"

namespace qkv {
namespace {

constexpr SimdFunctions functions_here = {max_width, max_lane_blocks* max_width, tiled_room,
                                          tiled_rows, all_finite};

}  // namespace
}  // namespace qkv
