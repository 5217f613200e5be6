// SimdFunctions: the kernels' inner parts, built once for each instruction set.
#pragma once

#include "kernels/simd/flat_problem.hpp"

namespace qkv {

struct SimdFunctions {
  int lanes = 0;       ///< queries in a register
  int lane_block = 0;  ///< queries that are computed together
  int row_block = 0;   ///< queries that share a pass over k and v, at most
  /// Bytes of room that tiled_rows needs, aligned to 64.
  std::size_t (*tiled_room)(const FlatProblem&) = nullptr;
  /// heads and lse of at most row_block rows; what `next` will read comes to the cache meanwhile.
  void (*tiled_rows)(const FlatProblem&, const RowBlock&, const RowBlock& next,
                     unsigned char* room) = nullptr;
  int decode_rows = 0;  ///< rows that decode_chunk takes, at most
  int decode_keys = 0;  ///< its chunks begin at a multiple of it
  std::size_t (*decode_room)(const FlatProblem&) = nullptr;
  /// Numbers that a chunk leaves for each row.
  std::ptrdiff_t (*partial_size)(const FlatProblem&) = nullptr;
  /// Statistics and sums of at most decode_rows rows over keys [from, to). False where v holds NaN
  /// or Inf behind keys that were skipped.
  bool (*decode_chunk)(const FlatProblem&, const RowBlock&, std::ptrdiff_t from, std::ptrdiff_t to,
                       float* partials, unsigned char* room) = nullptr;
  /// heads and lse from (chunks, rows, partial_size) numbers. False where a sum is not finite.
  bool (*decode_merge)(const FlatProblem&, const RowBlock&, const float* partials,
                       std::ptrdiff_t chunks, unsigned char* room) = nullptr;
  /// True where rows [from, to) of one head, of `columns` numbers, hold neither NaN nor infinity.
  bool (*all_finite)(const Source&, std::ptrdiff_t b, std::ptrdiff_t h, std::ptrdiff_t from,
                     std::ptrdiff_t to, std::ptrdiff_t columns) = nullptr;
};

extern const SimdFunctions baseline_functions;
#if defined(__x86_64__)
extern const SimdFunctions avx2_functions;
extern const SimdFunctions avx512_functions;
#endif

}  // namespace qkv
