// Which keys of a tile are hidden, a bit for each key and query, and what the tile's logits become.
#pragma once

#include "kernels/simd/exponential.hpp"
#include "kernels/simd/lane_block.hpp"
#include "kernels/simd/transpose.hpp"

namespace qkv {
namespace {

/// Keys whose weights are held at once: with the queries' lanes they fill half a first-level cache.
constexpr int tile_keys = lanes == 16 ? 64 : 128;

/// How much of a tile a block of queries sees.
enum class Sight { all, some, nothing };

/// Room for one tile.
struct TileScratch {
  alignas(64) float weights[tile_keys * max_width];  ///< (keys, width): scores, logits, weights
  alignas(64) float added[tile_keys * max_width];    ///< (keys, width): the float mask
  std::uint32_t hidden[tile_keys / 32 * max_width];  ///< (words, width): bit j%32 hides key j
};

/// Eight bytes of 0 or 1 as eight bits.
inline std::uint32_t pack_eight(const std::uint8_t* bytes) {
  std::uint64_t eight;
  __builtin_memcpy(&eight, bytes, sizeof eight);
  return static_cast<std::uint32_t>((eight * 0x0102040810204080ULL) >> 56);
}

/// Up to 32 flags, 0 or 1 each, as bits; a stride of 0 repeats the first.
inline std::uint32_t pack_flags(const std::uint8_t* flags, std::ptrdiff_t stride, int count) {
  if (stride == 0) return *flags != 0 ? ~0U : 0U;
  std::uint32_t bits = 0;
  int n = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  for (; n + 8 <= count; n += 8) bits |= pack_eight(flags + n) << n;
#endif
  for (; n < count; ++n) bits |= static_cast<std::uint32_t>(flags[n] != 0) << n;
  return bits;
}

/// Bits 0 to count-1.
inline std::uint32_t low_bits(std::int32_t count) {
  return count >= 32 ? ~0U : (count <= 0 ? 0U : (1U << count) - 1U);
}

/// Fills `hidden`, (words, width), by every rule but the float mask.
inline Sight find_hidden(const FlatProblem& p, const LaneBlock& rows, std::ptrdiff_t b,
                         std::int32_t j0, int keys, std::uint32_t* hidden) {
  if (j0 > rows.any_last || j0 + keys <= rows.any_first) return Sight::nothing;
  const bool within = j0 >= rows.all_first && j0 + keys - 1 <= rows.all_last;
  if (within && p.padded == nullptr && p.hidden == nullptr) return Sight::all;

  std::uint32_t any_hidden = 0, any_visible = 0;
  const int width = rows.width();
  for (int word = 0; word * 32 < keys; ++word) {
    const std::int32_t from = j0 + word * 32;
    const int here = keys - word * 32 < 32 ? keys - word * 32 : 32;
    const std::uint32_t real = low_bits(here);
    const std::uint32_t padding =
        p.padded != nullptr ? pack_flags(p.padded + b * p.S + from, 1, here) : 0U;
    for (int n = 0; n < width; ++n) {
      std::uint32_t bits = padding;
      if (!within) bits |= ~(low_bits(rows.last[n] + 1 - from) & ~low_bits(rows.first[n] - from));
      if (p.hidden != nullptr) {
        const std::uint8_t* row = p.hidden + b * p.hidden_at.b + rows.head[n] * p.hidden_at.h +
                                  rows.query[n] * p.hidden_at.i + from * p.hidden_at.j;
        bits |= pack_flags(row, p.hidden_at.j, here);
      }
      hidden[word * width + n] = bits;
      any_hidden |= bits & real;
      any_visible |= ~bits & real;
    }
  }
  if (any_visible == 0) return Sight::nothing;
  return any_hidden == 0 ? Sight::all : Sight::some;
}

/// Brings the float mask into the lanes. Returns whether it leaves any key of the tile visible.
inline bool gather_added(const FlatProblem& p, const LaneBlock& rows, std::ptrdiff_t b,
                         std::int32_t j0, int keys, TileScratch& scratch) {
  const int width = rows.width();
  const float* from[max_width];
  for (int n = 0; n < width; ++n) {
    from[n] = p.added + b * p.added_at.b + rows.head[n] * p.added_at.h +
              rows.query[n] * p.added_at.i + j0 * p.added_at.j;
  }
  if (p.added_at.j == 0) {
    for (int key = 0; key < keys; ++key)
      for (int n = 0; n < width; ++n) scratch.added[key * width + n] = *from[n];
  } else {
    rows_to_lanes(from, width, keys, scratch.added);
  }
  IntVec visible{};
  for (int n = 0; n < keys * width; n += lanes)
    visible |= load(scratch.added + n) != splat(-infinity);
  return any(visible);
}

/// logit = fill where hidden, -Inf where the float mask is -Inf, else scale, cap and bias applied
/// to the score; as the stages scaled, capped and masked of the pipeline do. `greatest` is found
/// anew.
template <int Vecs>
inline void adjust_tile(const FlatProblem& p, LaneBlock& rows, Sight sight, std::int32_t j0,
                        int keys, TileScratch& scratch, Vec (&greatest)[Vecs]) {
  const bool plain = p.plain(), hides = sight != Sight::all;
  const Vec scale = splat(p.scale), cap = splat(p.softcap), fill = splat(p.fill);
  const Vec minus_infinity = splat(-infinity);
  IntVec seen[Vecs];
  __builtin_memcpy(seen, rows.seen, sizeof seen);
#pragma GCC unroll 4
  for (int v = 0; v < Vecs; ++v) greatest[v] = minus_infinity;
  for (int key = 0; key < keys; ++key) {
    const IntVec bit = splat(static_cast<std::int32_t>(1U << (key % 32)));
    const float* words = reinterpret_cast<const float*>(scratch.hidden) + key / 32 * Vecs * lanes;
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) {
      float* at = scratch.weights + (key * Vecs + v) * lanes;
      Vec x = load(at);
      Vec added{};
      if (!plain) {
        x *= scale;
        if (p.softcap != 0) x = cap * tanh_of(x / cap);
        if (p.slopes != nullptr) {
          IntVec away;
          __builtin_memcpy(&away, rows.own + v * lanes, sizeof away);
          away -= j0 + key;
          x -= load(rows.slope + v * lanes) * __builtin_convertvector(away < 0 ? -away : away, Vec);
        }
        if (p.added != nullptr) {
          added = load(scratch.added + (key * Vecs + v) * lanes);
          x += added;
        }
      }
      IntVec hidden{};
      if (sight == Sight::some)
        hidden = (reinterpret_cast<IntVec>(load(words + v * lanes)) & bit) != 0;
      if (sight == Sight::nothing) hidden = ~IntVec{};
      if (hides) x = hidden ? fill : x;
      if (p.added != nullptr) {
        const IntVec veiled = added == minus_infinity;
        x = veiled ? minus_infinity : x;
        hidden |= veiled;
      }
      seen[v] |= ~hidden;
      store(at, x);
      greatest[v] = greater(x, greatest[v]);
    }
  }
  __builtin_memcpy(rows.seen, seen, sizeof seen);
}

}  // namespace
}  // namespace qkv
