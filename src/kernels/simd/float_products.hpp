// FloatProducts: both products of attention in float32, for tiled_rows().
#pragma once

#include "kernels/simd/hidden_keys.hpp"
#include "kernels/simd/products.hpp"
#include "kernels/simd/running_softmax.hpp"
#include "kernels/simd/source.hpp"
#include "kernels/simd/transpose.hpp"

namespace qkv {
namespace {

inline bool has_halves(const FlatProblem& p) {
  return p.q.halves != nullptr || p.k.halves != nullptr || p.v.halves != nullptr;
}

/// A tile of k and v as floats: halves are widened, once for all lane blocks.
struct FloatTile {
  float* k_room = nullptr;  ///< (tile_keys, D), where there are halves
  float* v_room = nullptr;  ///< (tile_keys, Dv)
  std::int32_t at = -1;     ///< key at which it begins, -1: none
  FloatRows k = {}, v = {};

  static std::ptrdiff_t room(const FlatProblem& p) {
    return has_halves(p) ? tile_keys * (p.D + p.Dv) : 0;
  }

  FloatTile(const FlatProblem& p, float* room) {
    if (!has_halves(p)) return;
    k_room = room;
    v_room = room + tile_keys * p.D;
  }

  /// Returns false where it is the tile that was found last.
  bool find(const FlatProblem& p, const RowBlock& block, std::int32_t j0, int keys) {
    if (at == j0) return false;
    at = j0;
    k = float_rows(p.k, block.b, block.g, j0, keys, p.D, k_room);
    v = float_rows(p.v, block.b, block.g, j0, keys, p.Dv, v_room);
    return true;
  }

  /// Rows of q of a lane block as floats, before the first tile is found.
  void queries(const FlatProblem& p, const RowBlock& block, const LaneBlock& rows,
               const float** from) const {
    static_assert(max_width <= tile_keys, "a block of queries is widened in the room of a tile");
    for (int n = 0; n < rows.width(); ++n) {
      from[n] = float_rows(p.q, block.b, rows.head[n], rows.query[n], 1, p.D,
                           k_room == nullptr ? nullptr : k_room + n * p.D)
                    .at;
    }
  }
};

struct FloatProducts {
  FloatTile tile;

  /// Numbers of room: for the tile, and for each of the lane blocks.
  static std::ptrdiff_t tile_room(const FlatProblem& p) { return FloatTile::room(p); }
  static std::ptrdiff_t block_room(const FlatProblem& p) { return max_width * (p.D + p.Dv); }

  FloatProducts(const FlatProblem& p, float* room) : tile(p, room) {}

  /// Takes the queries of a lane block, and zeros its sums.
  void start(const FlatProblem& p, const RowBlock& block, LaneBlock& rows, float* room) {
    rows.q = room;
    rows.o = rows.q + p.D * rows.width();
    const float* from[max_width];
    tile.queries(p, block, rows, from);
    rows_to_lanes(from, rows.width(), p.D, rows.q);
    clear(p, rows);
  }
  static void clear(const FlatProblem& p, LaneBlock& rows) {
    __builtin_memset(rows.o, 0, static_cast<std::size_t>(p.Dv * rows.width()) * sizeof(float));
  }

  void find_tile(const FlatProblem& p, const RowBlock& block, std::int32_t j0, int keys) {
    tile.find(p, block, j0, keys);
  }

  /// The scores of the tile, and the greatest of each query; `fetch` runs beside.
  template <int Vecs>
  void scores(const FlatProblem& p, const LaneBlock& rows, int keys, float* weights,
              Vec (&greatest)[Vecs], Fetch& fetch) const {
    score_tile<Vecs>(tile.k.at, tile.k.row, keys, rows.q, p.D, weights, greatest, fetch);
    fetch.finish();
  }

  /// Logits become weights, and the weighted rows of v are added to the sums.
  template <int Vecs>
  void add(const FlatProblem& p, Pass pass, float factor, const Vec (&greatest)[Vecs], int keys,
           float* weights, LaneBlock& rows) const {
    Vec shrink[Vecs];
    if (pass == Pass::running) {
      running_weights<Vecs>(rows, factor, greatest, keys, weights, shrink);
    } else {
      settled_weights<Vecs>(rows, factor, keys, weights);
#pragma GCC unroll 4
      for (int n = 0; n < Vecs; ++n) shrink[n] = splat(1.0F);
    }
    value_tile<Vecs>(tile.v.at, tile.v.row, keys, weights, shrink, p.Dv, rows.o);
  }
};

}  // namespace
}  // namespace qkv
