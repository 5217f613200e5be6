// Attention of a block of queries with the products in a matrix unit.
#pragma once

#include "kernels/simd/matrix_functions.hpp"
#include "kernels/simd/matrix_products.hpp"
#include "kernels/simd/tiled_rows.hpp"

namespace qkv {
namespace {

template <class Unit>
inline std::size_t matrix_room(const FlatProblem& p) {
  const std::size_t matrix = room_for<MatrixProducts<Unit>>(p), floats = tiled_room(p);
  return matrix > floats ? matrix : floats;
}

/// What tiled_rows() does, with q, k, v and weights rounded to bfloat16 where they are multiplied;
/// sums, logits and statistics are float32.
///
/// edge    where q, k or v, a weight or a sum is not finite, or not in bfloat16, all rows are
///         computed by tiled_rows()
template <class Unit>
inline void matrix_rows(const FlatProblem& p, const RowBlock& block, const RowBlock& next,
                        unsigned char* room) {
  if (is_special(p, block)) return tiled_rows(p, block, next, room);
  auto& work = *reinterpret_cast<TiledWorkspace*>(room);
  MatrixProducts<Unit> products(p, room_behind(work));
  const int blocks = start_rows(p, block, work, products);
  products.unit.configure();
  pass_keys(p, block, next, Pass::running, blocks, work, products);
  products.unit.release();
  bool special = any(products.off);
  for (int n = 0; n < blocks; ++n) special = !divide(p, work.blocks[n]) || special;
  if (special) return tiled_rows(p, block, next, room);
  for (int n = 0; n < blocks; ++n) write_rows(p, block, false, work.blocks[n]);
}

/// One product of tiles, c += a * b, as MatrixFunctions has it.
template <class Unit>
inline void multiply_one(const float* a, const float* b, float* c) {
  Unit unit;
  unit.configure();
  unit.template load<0>(c, 16);
  unit.template load<1>(a, 16);
  unit.template load<2>(b, 16);
  unit.template multiply<0, 1, 2>();
  unit.template store<0>(c, 16);
  unit.release();
}

template <class Unit>
constexpr MatrixFunctions matrix_functions_of = {
    .rows = {.lanes = lanes,
             .lane_block = max_width,
             .row_block = max_lane_blocks* max_width,
             .tiled_room = matrix_room<Unit>,
             .tiled_rows = matrix_rows<Unit>,
             .all_finite = all_finite},
    .multiply = multiply_one<Unit>,
};

}  // namespace
}  // namespace qkv
