// Attention of a block of queries: tiles of keys, softmax kept up as they pass.
#pragma once

#include "kernels/simd/adjust_tile.hpp"
#include "kernels/simd/empty_rows.hpp"
#include "kernels/simd/fetch_tiles.hpp"
#include "kernels/simd/float_products.hpp"
#include "kernels/simd/hidden_keys.hpp"
#include "kernels/simd/lane_block.hpp"
#include "kernels/simd/running_softmax.hpp"
#include "kernels/simd/transpose.hpp"

namespace qkv {
namespace {

/// Lane blocks that share a pass over k and v.
constexpr int max_lane_blocks = lanes == 16 ? 4 : 8;

struct TiledWorkspace {
  TileScratch scratch;
  LaneBlock blocks[max_lane_blocks];
};

inline std::size_t rounded_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// One tile of keys for one lane block. The products are of a type that has the functions of
/// FloatProducts.
template <int Vecs, class Products>
inline void pass_tile(const FlatProblem& p, const RowBlock& block, Pass pass, std::int32_t j0,
                      int keys, LaneBlock& rows, TileScratch& scratch, Products& products,
                      Fetch& fetch) {
  Sight sight = p.hides ? find_hidden(p, rows, block.b, j0, keys, scratch.hidden) : Sight::all;
  const bool added_hides = p.added != nullptr && !added_shows_any(p, rows, block.b, j0, keys);
  if (pass == Pass::running) {
    if (added_hides) return;
    if (sight == Sight::nothing && (p.fill == -infinity || fill_is_nothing(p, rows))) return;
  }

  products.find_tile(p, block, j0, keys);
  Vec greatest[Vecs];
  products.template scores<Vecs>(p, rows, keys, scratch.weights, greatest, fetch);
  const bool plain = is_plain(p);
  if (!plain || sight != Sight::all)
    adjust_tile<Vecs>(p, rows, block.b, sight, j0, keys, scratch, greatest);
  const float factor = plain ? p.scale * log2_e : log2_e;
  products.template add<Vecs>(p, pass, factor, greatest, keys, scratch.weights, rows);
}

/// A tile for a lane block of any width.
template <class Products>
inline void pass_tile(const FlatProblem& p, const RowBlock& block, Pass pass, std::int32_t j0,
                      int keys, LaneBlock& rows, TileScratch& scratch, Products& products,
                      Fetch& fetch) {
  switch (rows.vecs) {
    case 1:
      return pass_tile<1>(p, block, pass, j0, keys, rows, scratch, products, fetch);
    case 2:
      return pass_tile<2>(p, block, pass, j0, keys, rows, scratch, products, fetch);
    case 3:
      return pass_tile<3>(p, block, pass, j0, keys, rows, scratch, products, fetch);
    default:
      return pass_tile<max_vecs>(p, block, pass, j0, keys, rows, scratch, products, fetch);
  }
}

/// All tiles for all lane blocks, and the first of the next block on their way. Those with keys
/// that somebody sees come first, so that the others find out whether they matter.
template <class Products>
inline void pass_keys(const FlatProblem& p, const RowBlock& block, const RowBlock& next, Pass pass,
                      int blocks, TiledWorkspace& work, Products& products) {
  std::int32_t first = work.blocks[0].any_first, last = work.blocks[0].any_last;
  for (int n = 1; n < blocks; ++n) {
    if (work.blocks[n].any_first < first) first = work.blocks[n].any_first;
    if (work.blocks[n].any_last > last) last = work.blocks[n].any_last;
  }
  const auto tiles = static_cast<std::int32_t>((p.S + tile_keys - 1) / tile_keys);
  const std::int32_t start = first / tile_keys < tiles ? first / tile_keys : 0;
  const bool only_visible = pass == Pass::running && p.fill == -infinity;
  const std::int32_t visible = last < first ? 0 : last / tile_keys - start + 1;
  const std::int32_t count = only_visible ? visible : tiles;
  for (std::int32_t n = 0; n < count; ++n) {
    const std::int32_t j0 = (start + n) % tiles * tile_keys;
    const auto keys = static_cast<int>(p.S - j0 < tile_keys ? p.S - j0 : tile_keys);
    for (int m = 0; m < blocks; ++m) {
      Fetch fetch;
      const bool more = m + 1 < blocks, ends = n + 1 == count;
      const std::int32_t after = ends ? 0 : (start + n + 1) % tiles * tile_keys;
      if (more || !ends)
        fetch_masks(p, work.blocks[more ? m + 1 : 0], block.b, more ? j0 : after, fetch);
      if (ends) fetch_queries(p, next, m, fetch);
      fetch_tile(p, ends ? next.b : block.b, ends ? next.g : block.g, after, m, blocks, fetch);
      pass_tile(p, block, pass, j0, keys, work.blocks[m], work.scratch, products, fetch);
    }
  }
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

/// Bytes that tiled_rows() needs, or its like with other products.
template <class Products>
inline std::size_t room_for(const FlatProblem& p) {
  const std::ptrdiff_t numbers = Products::tile_room(p) + max_lane_blocks * Products::block_room(p);
  return rounded_up(sizeof(TiledWorkspace)) + static_cast<std::size_t>(numbers) * sizeof(float);
}

inline float* room_behind(TiledWorkspace& work) {
  auto* room = reinterpret_cast<unsigned char*>(&work);
  return reinterpret_cast<float*>(room + rounded_up(sizeof(TiledWorkspace)));
}

/// Cuts a block into lane blocks, each with its queries taken and nothing seen. Returns how many.
template <class Products>
inline int start_rows(const FlatProblem& p, const RowBlock& block, TiledWorkspace& work,
                      Products& products) {
  float* room = room_behind(work) + Products::tile_room(p);
  int blocks = 0;
  for (std::ptrdiff_t done = 0; done < block.rows; done += max_width, ++blocks) {
    LaneBlock& rows = work.blocks[blocks];
    const std::ptrdiff_t left = block.rows - done;
    set_rows(p, block, block.first_row + done,
             static_cast<int>(left < max_width ? left : max_width), rows);
    products.start(p, block, rows, room);
    room += Products::block_room(p);
  }
  return blocks;
}

/// True where v is known to hold NaN or Inf.
inline bool is_special(const FlatProblem& p, const RowBlock& block) {
  return p.special_v != nullptr && p.special_v[block.b * p.G + block.g] != 0;
}

inline std::size_t tiled_room(const FlatProblem& p) { return room_for<FloatProducts>(p); }

/// heads and lse of at most max_lane_blocks*max_width rows, while what `next` will read comes to
/// the cache. `room` is aligned to 64 bytes.
inline void tiled_rows(const FlatProblem& p, const RowBlock& block, const RowBlock& next,
                       unsigned char* room) {
  auto& work = *reinterpret_cast<TiledWorkspace*>(room);
  FloatProducts products(p, room_behind(work));
  const int blocks = start_rows(p, block, work, products);
  pass_keys(p, block, next, Pass::running, blocks, work, products);
  bool special = is_special(p, block);
  for (int n = 0; n < blocks; ++n) special = !divide(p, work.blocks[n]) || special;
  // NaN and Inf in v meet each weight as it is in the pipeline: normalised, whether small or 0. The
  // same pass keeps sums of large values from overflowing where their mean does not.
  if (special) {
    for (int n = 0; n < blocks; ++n) FloatProducts::clear(p, work.blocks[n]);
    pass_keys(p, block, next, Pass::settled, blocks, work, products);
  }
  for (int n = 0; n < blocks; ++n) write_rows(p, block, special, work.blocks[n]);
}

}  // namespace
}  // namespace qkv
