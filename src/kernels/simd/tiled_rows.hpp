// Attention of a block of queries: tiles of keys, softmax kept up as they pass.
#pragma once

#include "kernels/simd/adjust_tile.hpp"
#include "kernels/simd/empty_rows.hpp"
#include "kernels/simd/exponential.hpp"
#include "kernels/simd/hidden_keys.hpp"
#include "kernels/simd/lane_block.hpp"
#include "kernels/simd/products.hpp"
#include "kernels/simd/source.hpp"
#include "kernels/simd/transpose.hpp"

namespace qkv {
namespace {

/// Lane blocks that share a pass over k and v.
constexpr int max_lane_blocks = lanes == 16 ? 4 : 8;

/// What a pass over the keys is for.
enum class Pass {
  running,  ///< statistics and sums, rescaled as the maximum grows
  settled   ///< sums alone, with the statistics known: each weight is final, as the pipeline's is
};

struct TiledWorkspace {
  TileScratch scratch;
  LaneBlock blocks[max_lane_blocks];
  float* k_room;            ///< (tile_keys, D), where k is of halves
  float* v_room;            ///< (tile_keys, Dv), where v is
  std::int32_t widened_at;  ///< key at which the tile in them begins, -1: none
  FloatRows k, v;           ///< of the tile
};

/// Finds a tile of k and v; halves are widened once for all lane blocks.
inline void find_tile(const FlatProblem& p, const RowBlock& block, std::int32_t j0, int keys,
                      TiledWorkspace& work) {
  if (work.widened_at == j0) return;
  work.widened_at = j0;
  work.k = float_rows(p.k, block.b, block.g, j0, keys, p.D, work.k_room);
  work.v = float_rows(p.v, block.b, block.g, j0, keys, p.Dv, work.v_room);
}

inline std::size_t rounded_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// Hidden keys of finite fill weigh exactly nothing beside what every lane has seen.
inline bool fill_is_nothing(const FlatProblem& p, const LaneBlock& rows) {
  // exp underflows at 104, which is 150 powers of two; a NaN says no.
  bool nothing = true;
  for (int n = 0; n < rows.count; ++n)
    nothing = nothing && p.fill * log2_e - rows.top[n] < -152.0F && rows.seen[n] != 0;
  return nothing;
}

/// Turns a tile of logits into weights, and moves top and sum on; `shrink` is what the sums so far
/// are multiplied by.
template <int Vecs>
inline void running_weights(LaneBlock& rows, float factor, const Vec (&greatest)[Vecs], int keys,
                            float* weights, Vec (&shrink)[Vecs]) {
  Vec base[Vecs], sums[Vecs];
#pragma GCC unroll 4
  for (int v = 0; v < Vecs; ++v) {
    const Vec before = load(rows.top + v * lanes);
    const Vec top = greater(greatest[v] * factor, before);
    // Nothing seen yet: -Inf - -Inf would be NaN.
    base[v] = top == splat(-infinity) ? Vec{} : top;
    shrink[v] = exp2_or_zero(before - base[v]);
    sums[v] = Vec{};
    store(rows.top + v * lanes, top);
  }
  // Equal weights, added one by one to a sum, round in the same direction each time: chains are
  // kept short, and what the running sum loses is kept beside it.
  constexpr int chain = 8;
  for (int first = 0; first < keys; first += chain) {
    Vec few[Vecs] = {};
    const int end = first + chain < keys ? first + chain : keys;
    for (int key = first; key < end; ++key) {
#pragma GCC unroll 4
      for (int v = 0; v < Vecs; ++v) {
        float* at = weights + (key * Vecs + v) * lanes;
        const Vec weight = exp2_or_zero(load(at) * factor - base[v]);
        few[v] += weight;
        store(at, weight);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) sums[v] += few[v];
  }
#pragma GCC unroll 4
  for (int v = 0; v < Vecs; ++v) {
    float* sum = rows.sum + v * lanes;
    float* lost = rows.lost + v * lanes;
    const Vec before = load(sum) * shrink[v];
    const Vec after = before + sums[v];
    const Vec added = after - before;
    store(sum, after);
    store(lost, load(lost) * shrink[v] + ((before - (after - added)) + (sums[v] - added)));
  }
}

/// Turns a tile of logits into final weights, by the statistics of a running pass.
template <int Vecs>
inline void settled_weights(const LaneBlock& rows, float factor, int keys, float* weights) {
  for (int key = 0; key < keys; ++key) {
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) {
      const Vec top = load(rows.top + v * lanes), sum = load(rows.sum + v * lanes);
      const Vec base = top == splat(-infinity) ? Vec{} : top;
      const Vec part = sum == 0 ? Vec{} : 1 / sum;
      float* at = weights + (key * Vecs + v) * lanes;
      store(at, exp2_with_denormals(load(at) * factor - base) * part);
    }
  }
}

/// One tile of keys for one lane block.
template <int Vecs>
inline void pass_tile(const FlatProblem& p, const RowBlock& block, Pass pass, std::int32_t j0,
                      int keys, LaneBlock& rows, TiledWorkspace& work) {
  TileScratch& scratch = work.scratch;
  Sight sight = p.hides ? find_hidden(p, rows, block.b, j0, keys, scratch.hidden) : Sight::all;
  const bool added_hides = p.added != nullptr && !added_shows_any(p, rows, block.b, j0, keys);
  if (pass == Pass::running) {
    if (added_hides) return;
    if (sight == Sight::nothing && (p.fill == -infinity || fill_is_nothing(p, rows))) return;
  }

  find_tile(p, block, j0, keys, work);
  Vec greatest[Vecs], shrink[Vecs];
  score_tile<Vecs>(work.k.at, work.k.row, keys, rows.q, p.D, scratch.weights, greatest);
  const bool plain = is_plain(p);
  if (!plain || sight != Sight::all)
    adjust_tile<Vecs>(p, rows, block.b, sight, j0, keys, scratch, greatest);
  const float factor = plain ? p.scale * log2_e : log2_e;
  if (pass == Pass::running) {
    running_weights<Vecs>(rows, factor, greatest, keys, scratch.weights, shrink);
  } else {
    settled_weights<Vecs>(rows, factor, keys, scratch.weights);
#pragma GCC unroll 4
    for (int n = 0; n < Vecs; ++n) shrink[n] = splat(1.0F);
  }
  value_tile<Vecs>(work.v.at, work.v.row, keys, scratch.weights, shrink, p.Dv, rows.o);
}

/// A tile for a lane block of any width.
inline void pass_tile(const FlatProblem& p, const RowBlock& block, Pass pass, std::int32_t j0,
                      int keys, LaneBlock& rows, TiledWorkspace& work) {
  switch (rows.vecs) {
    case 1:
      return pass_tile<1>(p, block, pass, j0, keys, rows, work);
    case 2:
      return pass_tile<2>(p, block, pass, j0, keys, rows, work);
    case 3:
      return pass_tile<3>(p, block, pass, j0, keys, rows, work);
    default:
      return pass_tile<max_vecs>(p, block, pass, j0, keys, rows, work);
  }
}

/// All tiles for all lane blocks. Those with keys that somebody sees come first, so that the others
/// find out whether they matter.
inline void pass_keys(const FlatProblem& p, const RowBlock& block, Pass pass, int blocks,
                      TiledWorkspace& work) {
  std::int32_t first = work.blocks[0].any_first, last = work.blocks[0].any_last;
  for (int n = 1; n < blocks; ++n) {
    if (work.blocks[n].any_first < first) first = work.blocks[n].any_first;
    if (work.blocks[n].any_last > last) last = work.blocks[n].any_last;
  }
  const auto tiles = static_cast<std::int32_t>((p.S + tile_keys - 1) / tile_keys);
  const std::int32_t start = first / tile_keys < tiles ? first / tile_keys : 0;
  const bool only_visible = pass == Pass::running && p.fill == -infinity;
  const std::int32_t visible = last < first ? 0 : last / tile_keys - start + 1;
  for (std::int32_t n = 0; n < (only_visible ? visible : tiles); ++n) {
    const std::int32_t j0 = (start + n) % tiles * tile_keys;
    const auto keys = static_cast<int>(p.S - j0 < tile_keys ? p.S - j0 : tile_keys);
    for (int m = 0; m < blocks; ++m) {
      const bool more = m + 1 < blocks;
      if (p.hidden != nullptr || p.added != nullptr)
        fetch_masks(p, work.blocks[more ? m + 1 : 0], block.b, more ? j0 : j0 + tile_keys);
      pass_tile(p, block, pass, j0, keys, work.blocks[m], work);
    }
  }
}

/// Divides the sums by their weights'. Returns whether every one is finite.
inline bool divide(const FlatProblem& p, LaneBlock& rows) {
  IntVec off{};
  for (int v = 0; v < rows.vecs; ++v) {
    const Vec sum = load(rows.sum + v * lanes) + load(rows.lost + v * lanes);
    store(rows.sum + v * lanes, sum);
    const Vec part = sum == 0 ? splat(1.0F) : 1 / sum;
    for (std::ptrdiff_t e = 0; e < p.Dv; ++e) {
      float* at = rows.o + (e * rows.vecs + v) * lanes;
      const Vec x = load(at) * part;
      off |= x - x != 0;
      store(at, x);
    }
  }
  return !any(off);
}

/// heads and lse of a lane block, to where they belong.
inline void write_rows(const FlatProblem& p, const RowBlock& block, bool special,
                       const LaneBlock& rows) {
  float* to[max_width];
  for (int n = 0; n < rows.count; ++n) to[n] = heads_row(p, block, rows, n);
  lanes_to_rows(rows.o, rows.width(), p.Dv, rows.count, to);
  for (int n = 0; n < rows.count; ++n) {
    const bool empty = is_empty(p, rows, n);
    if (empty) write_empty_row(p, block, special, to[n]);
    write_lse(p, block, rows, n, empty);
  }
}

/// Room that tiled_rows() needs, bytes.
inline std::size_t tiled_room(const FlatProblem& p) {
  static_assert(max_width <= tile_keys, "a block of queries is widened in the room of a tile");
  const auto channels = static_cast<std::size_t>(p.D + p.Dv);
  const bool halves = p.q.halves != nullptr || p.k.halves != nullptr || p.v.halves != nullptr;
  return rounded_up(sizeof(TiledWorkspace)) +
         (max_lane_blocks * max_width + (halves ? tile_keys : 0)) * channels * sizeof(float);
}

/// heads and lse of at most max_lane_blocks*max_width rows. `room` is aligned to 64 bytes.
inline void tiled_rows(const FlatProblem& p, const RowBlock& block, unsigned char* room) {
  auto& work = *reinterpret_cast<TiledWorkspace*>(room);
  auto* free = reinterpret_cast<float*>(room + rounded_up(sizeof(TiledWorkspace)));
  int blocks = 0;
  work.widened_at = -1;
  const bool halves = p.q.halves != nullptr || p.k.halves != nullptr || p.v.halves != nullptr;
  if (halves) {
    work.k_room = free;
    work.v_room = free + tile_keys * p.D;
    free += tile_keys * (p.D + p.Dv);
  }
  for (std::ptrdiff_t done = 0; done < block.rows; done += max_width, ++blocks) {
    LaneBlock& rows = work.blocks[blocks];
    const std::ptrdiff_t left = block.rows - done;
    set_rows(p, block, block.first_row + done,
             static_cast<int>(left < max_width ? left : max_width), rows);
    rows.q = free;
    rows.o = rows.q + p.D * rows.width();
    free = rows.o + p.Dv * rows.width();
    const float* from[max_width];
    for (int n = 0; n < rows.width(); ++n) {
      from[n] = float_rows(p.q, block.b, rows.head[n], rows.query[n], 1, p.D,
                           halves ? work.k_room + n * p.D : nullptr)
                    .at;
    }
    rows_to_lanes(from, rows.width(), p.D, rows.q);
    __builtin_memset(rows.o, 0, static_cast<std::size_t>(p.Dv * rows.width()) * sizeof(float));
  }

  pass_keys(p, block, Pass::running, blocks, work);
  bool special = p.special_v != nullptr && p.special_v[block.b * p.G + block.g] != 0;
  for (int n = 0; n < blocks; ++n) special = !divide(p, work.blocks[n]) || special;
  // NaN and Inf in v meet each weight as it is in the pipeline: normalised, whether small or 0. The
  // same pass keeps sums of large values from overflowing where their mean does not.
  if (special) {
    for (int n = 0; n < blocks; ++n) {
      LaneBlock& rows = work.blocks[n];
      __builtin_memset(rows.o, 0, static_cast<std::size_t>(p.Dv * rows.width()) * sizeof(float));
    }
    pass_keys(p, block, Pass::settled, blocks, work);
  }
  for (int n = 0; n < blocks; ++n) write_rows(p, block, special, work.blocks[n]);
}

}  // namespace
}  // namespace qkv
