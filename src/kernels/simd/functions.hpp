// SimdFunctions: the kernels' inner parts, built once for each instruction set.
#pragma once

#include "kernels/simd/flat_problem.hpp"
#include "qkv/kernels/isa.hpp"

namespace qkv {

struct SimdFunctions {
  int lane_block = 0;  ///< queries that are computed together
  int row_block = 0;   ///< queries that share a pass over k and v, at most
  /// Bytes of room that tiled_rows needs, aligned to 64.
  std::size_t (*tiled_room)(const FlatProblem&) = nullptr;
  /// heads and lse of at most row_block rows.
  void (*tiled_rows)(const FlatProblem&, const RowBlock&, unsigned char* room) = nullptr;
  /// True where `rows` rows of `columns` numbers hold neither NaN nor infinity.
  bool (*all_finite)(const float* from, std::ptrdiff_t row, std::ptrdiff_t rows,
                     std::ptrdiff_t columns) = nullptr;
};

/// The functions built for an instruction set that this build has and this CPU runs.
const SimdFunctions& simd_functions(Isa isa);

extern const SimdFunctions baseline_functions;
#if defined(__x86_64__)
extern const SimdFunctions avx2_functions;
extern const SimdFunctions avx512_functions;
#endif

}  // namespace qkv
