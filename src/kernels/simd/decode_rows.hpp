// Attention of a few queries that share k and v: a chunk of the keys at a time, chunks merged by
// their log-sum-exp.
#pragma once

#include "kernels/simd/decode_products.hpp"
#include "kernels/simd/empty_rows.hpp"
#include "kernels/simd/exponential.hpp"
#include "kernels/simd/hidden_keys.hpp"
#include "kernels/simd/lane_block.hpp"
#include "kernels/simd/source.hpp"

namespace qkv {
namespace {

/// Keys that all rows work on while they are in the first-level cache.
constexpr int group_keys = 16;

/// Keys from those that are worked on to those that are fetched, which are two groups.
constexpr int ahead_keys = 64;

/// What a chunk found out about one row: top, sum, seen, and from `partial_sums` on Dv sums.
constexpr std::ptrdiff_t partial_sums = 16;
inline std::ptrdiff_t partial_size(const FlatProblem& p) {
  return partial_sums + (p.Dv + 15) / 16 * 16;
}

/// Room for a tile of all rows.
struct DecodeScratch {
  alignas(64) float weights[max_decode_rows][tile_keys];
  std::uint32_t hidden[tile_keys / 32 * lane_room];
};

/// Starts to bring the keys behind a group to the cache while it is worked on.
inline void fetch_ahead(const Source& source, const RowBlock& block, std::ptrdiff_t first,
                        std::ptrdiff_t columns, Fetch& fetch) {
  const std::ptrdiff_t ahead = first + ahead_keys;
  fetch_rows(source, block.b, block.g, ahead, ahead + 2 * group_keys, columns, fetch);
}

/// Scores of a tile, group by group so that a group of k is in the first-level cache for all rows.
template <class Pace>
inline void decode_scores(const FlatProblem& p, const RowBlock& block, const float* const* q,
                          std::ptrdiff_t j0, int keys, float* room, DecodeScratch& scratch) {
  const auto rows = static_cast<int>(block.rows);
  for (int first = 0; first < keys; first += group_keys) {
    const int here = keys - first < group_keys ? keys - first : group_keys;
    const FloatRows k = float_rows(p.k, block.b, block.g, j0 + first, here, p.D, room);
    Fetch fetch;
    fetch_ahead(p.k, block, j0 + first, p.D, fetch);
    int key = 0;
    for (; key + lanes <= here; key += lanes) {
      for (int n = 0; n < rows; ++n) {
        store(&scratch.weights[n][first + key],
              score_group<Pace>(k.at + key * k.row, k.row, q[n], p.D, fetch));
      }
    }
    for (; key < here; ++key) {
      for (int n = 0; n < rows; ++n)
        scratch.weights[n][first + key] = score_one(k.at + key * k.row, q[n], p.D);
    }
  }
}

/// Adds the weighted rows of v of a tile to the sums, group by group.
template <class Pace>
inline void decode_values(const FlatProblem& p, const RowBlock& block, std::ptrdiff_t j0, int keys,
                          float* room, const DecodeScratch& scratch, const float* shrink,
                          float* const* o) {
  const auto rows = static_cast<int>(block.rows);
  for (int first = 0; first < keys; first += group_keys) {
    const int here = keys - first < group_keys ? keys - first : group_keys;
    const FloatRows v = float_rows(p.v, block.b, block.g, j0 + first, here, p.Dv, room);
    Fetch fetch;
    fetch_ahead(p.v, block, j0 + first, p.Dv, fetch);
    for (int n = 0; n < rows; ++n) {
      value_rows<Pace>(v.at, v.row, here, scratch.weights[n] + first, first == 0 ? shrink[n] : 1.0F,
                       p.Dv, o[n], fetch);
    }
  }
}

/// logit = fill where hidden, -Inf where the float mask is -Inf, else scale, cap and bias applied
/// to the score, for a row of keys; as adjust_tile() does for a column.
inline void adjust_row(const FlatProblem& p, LaneBlock& rows, int n, std::ptrdiff_t b, Sight sight,
                       std::int32_t j0, int keys, float* weights,
                       const std::uint32_t* hidden_words) {
  IntVec bit{}, steps{};
  for (int lane = 0; lane < lanes; ++lane) {
    bit[lane] = static_cast<std::int32_t>(1U << lane);
    steps[lane] = lane;
  }
  const bool plain = is_plain(p);
  const float* added = p.added == nullptr
                           ? nullptr
                           : p.added + b * p.added_at.b + rows.head[n] * p.added_at.h +
                                 rows.query[n] * p.added_at.i + j0 * p.added_at.j;
  IntVec seen{};
  for (int key = 0; key < keys; key += lanes) {
    const int here = keys - key < lanes ? keys - key : lanes;
    Vec x = load(weights + key), bias{};
    if (!plain) {
      x *= p.scale;
      if (p.softcap != 0) x = p.softcap * tanh_of(x / p.softcap);
      if (p.slopes != nullptr) {
        const IntVec away = rows.own[n] - (steps + (j0 + key));
        x -= rows.slope[n] * __builtin_convertvector(away < 0 ? -away : away, Vec);
      }
      if (added != nullptr) {
        bias = p.added_at.j == 0 ? splat(*added) : load_first(added + key, here);
        x += bias;
      }
    }
    IntVec hidden = splat(sight == Sight::nothing ? -1 : 0);
    if (sight == Sight::some) {
      const std::uint32_t word = hidden_words[key / 32 * rows.width() + n] >> (key % 32);
      hidden = (splat(static_cast<std::int32_t>(word)) & bit) != 0;
    }
    x = hidden ? splat(p.fill) : x;
    if (added != nullptr) {
      const IntVec veiled = bias == splat(-infinity);
      x = veiled ? splat(-infinity) : x;
      hidden |= veiled;
    }
    seen |= ~hidden & (steps < here);
    store(weights + key, x);
  }
  if (any(seen)) rows.seen[n] = -1;
}

/// Turns a row of logits into weights, zeros behind them, and moves top and sum on. Returns what
/// the sums so far are multiplied by.
inline float decode_weights(LaneBlock& rows, int n, float factor, int keys, float* weights) {
  const int padded = (keys + lanes - 1) / lanes * lanes;
  for (int key = keys; key < padded; ++key) weights[key] = -infinity;
  Vec greatest = splat(-infinity);
  for (int key = 0; key < padded; key += lanes) greatest = greater(load(weights + key), greatest);
  float top = rows.top[n];
  for (int lane = 0; lane < lanes; ++lane)
    top = greatest[lane] * factor > top ? greatest[lane] * factor : top;
  const float base = top == -infinity ? 0.0F : top;
  const float shrink = exp2_or_zero(splat(rows.top[n] - base))[0];
  Vec sums{};
  for (int key = 0; key < padded; key += lanes) {
    const Vec weight = exp2_or_zero(load(weights + key) * factor - base);
    sums += weight;
    store(weights + key, weight);
  }
  rows.top[n] = top;
  rows.sum[n] = rows.sum[n] * shrink + sum_of(sums);
  return shrink;
}

constexpr std::size_t scratch_size = (sizeof(DecodeScratch) + 63) / 64 * 64;
/// Where the room for widened rows begins: those of q, and then a group of k or v.
constexpr std::size_t room_of_floats = scratch_size + (sizeof(LaneBlock) + 63) / 64 * 64;

/// Room that decode_chunk() needs, bytes.
inline std::size_t decode_room(const FlatProblem& p) {
  std::size_t bytes = room_of_floats;
  if (p.q.halves != nullptr) bytes += max_decode_rows * static_cast<std::size_t>(p.D) * 4;
  if (p.k.halves != nullptr || p.v.halves != nullptr)
    bytes += group_keys * static_cast<std::size_t>(p.D > p.Dv ? p.D : p.Dv) * 4;
  return bytes;
}

/// Statistics and sums of all rows of a block over keys [from, to), `from` a multiple of tile_keys.
/// Returns false where v holds NaN or Inf behind keys that were skipped.
///
/// shape   partials (rows, partial_size)
inline bool decode_chunk(const FlatProblem& p, const RowBlock& block, std::ptrdiff_t from,
                         std::ptrdiff_t to, float* partials, unsigned char* room) {
  auto& scratch = *reinterpret_cast<DecodeScratch*>(room);
  auto& rows = *reinterpret_cast<LaneBlock*>(room + scratch_size);
  auto* q_room = reinterpret_cast<float*>(room + room_of_floats);
  float* group_room = q_room + (p.q.halves != nullptr ? max_decode_rows * p.D : 0);
  const auto count = static_cast<int>(block.rows);
  set_rows(p, block, block.first_row, count, rows);
  const float* q[max_decode_rows];
  float* o[max_decode_rows];
  for (int n = 0; n < count; ++n) {
    q[n] = float_rows(p.q, block.b, rows.head[n], rows.query[n], 1, p.D,
                      p.q.halves != nullptr ? q_room + n * p.D : nullptr)
               .at;
    o[n] = partials + n * partial_size(p) + partial_sums;
    __builtin_memset(o[n], 0, static_cast<std::size_t>(p.Dv) * sizeof(float));
  }
  const bool plain = is_plain(p);
  const float factor = plain ? p.scale * log2_e : log2_e;

  for (std::ptrdiff_t j0 = from; j0 < to; j0 += tile_keys) {
    const auto keys = static_cast<int>(to - j0 < tile_keys ? to - j0 : tile_keys);
    const auto first = static_cast<std::int32_t>(j0);
    const Sight sight =
        p.hides ? find_hidden(p, rows, block.b, first, keys, scratch.hidden) : Sight::all;
    if (sight == Sight::nothing && p.fill == -infinity) {
      if (!all_finite(p.v, block.b, block.g, j0, j0 + keys, p.Dv)) return false;
      continue;
    }
    if (count == 1) {
      decode_scores<OneRow>(p, block, q, j0, keys, group_room, scratch);
    } else {
      decode_scores<MoreRows>(p, block, q, j0, keys, group_room, scratch);
    }
    float shrink[max_decode_rows];
    for (int n = 0; n < count; ++n) {
      if (!plain || sight != Sight::all) {
        adjust_row(p, rows, n, block.b, sight, first, keys, scratch.weights[n], scratch.hidden);
      }
      shrink[n] = decode_weights(rows, n, factor, keys, scratch.weights[n]);
    }
    if (count == 1) {
      decode_values<OneRow>(p, block, j0, keys, group_room, scratch, shrink, o);
    } else {
      decode_values<MoreRows>(p, block, j0, keys, group_room, scratch, shrink, o);
    }
  }
  for (int n = 0; n < count; ++n) {
    float* partial = partials + n * partial_size(p);
    partial[0] = rows.top[n];
    partial[1] = rows.sum[n];
    partial[2] = rows.seen[n] != 0 ? 1.0F : 0.0F;
  }
  return true;
}

/// heads and lse of all rows of a block from what `chunks` chunks found, (chunks, rows,
/// partial_size). Returns false, with nothing to be relied on, where a sum is not finite.
inline bool decode_merge(const FlatProblem& p, const RowBlock& block, const float* partials,
                         std::ptrdiff_t chunks, unsigned char* room) {
  auto& rows = *reinterpret_cast<LaneBlock*>(room);
  set_rows(p, block, block.first_row, static_cast<int>(block.rows), rows);
  const std::ptrdiff_t size = partial_size(p);
  for (int n = 0; n < rows.count; ++n) {
    const auto partial = [&](std::ptrdiff_t chunk) {
      return partials + (chunk * block.rows + n) * size;
    };
    float top = -infinity;
    for (std::ptrdiff_t chunk = 0; chunk < chunks; ++chunk) {
      if (partial(chunk)[0] > top) top = partial(chunk)[0];
      if (partial(chunk)[2] != 0) rows.seen[n] = -1;
    }
    const float base = top == -infinity ? 0.0F : top;
    float* to = heads_row(p, block, rows, n);
    __builtin_memset(to, 0, static_cast<std::size_t>(p.Dv) * sizeof(float));
    rows.top[n] = top;
    double weights = 0;
    for (std::ptrdiff_t chunk = 0; chunk < chunks; ++chunk) {
      const float share = exp2_or_zero(splat(partial(chunk)[0] - base))[0];
      weights += static_cast<double>(partial(chunk)[1]) * static_cast<double>(share);
      const float* from = partial(chunk) + partial_sums;
      for (std::ptrdiff_t e = 0; e < p.Dv; ++e) to[e] += from[e] * share;
    }
    const auto sum = static_cast<float>(weights);
    rows.sum[n] = sum;
    const float part = sum == 0 ? 1.0F : 1 / sum;
    for (std::ptrdiff_t e = 0; e < p.Dv; ++e) to[e] *= part;
    const Source sums{.floats = to};
    if (!all_finite(sums, 0, 0, 0, 1, p.Dv)) return false;
    const bool empty = is_empty(p, rows, n);
    if (empty) write_empty_row(p, block, false, to);
    write_lse(p, block, rows, n, empty);
  }
  return true;
}

}  // namespace
}  // namespace qkv
