// The table of functions of one instruction set, that of the translation unit that includes this.
#pragma once

#include "kernels/simd/decode_rows.hpp"
#include "kernels/simd/functions.hpp"
#include "kernels/simd/source.hpp"
#include "kernels/simd/tiled_rows.hpp"

namespace qkv {
namespace {

constexpr SimdFunctions functions_here = {
    .lanes = lanes,
    .lane_block = max_width,
    .row_block = max_lane_blocks * max_width,
    .tiled_room = tiled_room,
    .tiled_rows = tiled_rows,
    .decode_rows = max_decode_rows,
    .decode_keys = tile_keys,
    .decode_room = decode_room,
    .partial_size = partial_size,
    .decode_chunk = decode_chunk,
    .decode_merge = decode_merge,
    .all_finite = all_finite,
};

}  // namespace
}  // namespace qkv
