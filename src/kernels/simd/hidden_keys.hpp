// Which keys of a tile are hidden, a bit for each key and query.
#pragma once

#include "kernels/simd/lane_block.hpp"

namespace qkv {
namespace {

#if defined(QKV_MATRIX_UNIT)
/// Twice the keys: adding a tile's sums to those so far is more of the work.
constexpr int tile_keys = 128;
#else
/// Keys whose weights are held at once: with the queries' lanes they fill half a first-level cache.
constexpr int tile_keys = lanes == 16 ? 64 : 128;
#endif

/// How much of a tile a block of queries sees.
enum class Sight { all, some, nothing };

/// Room for one tile.
struct TileScratch {
  alignas(64) float weights[tile_keys * max_width];  ///< (keys, width): scores, logits, weights
  std::uint32_t hidden[tile_keys / 32 * max_width];  ///< (words, width): bit j%32 hides key j
};

/// Eight bytes of 0 or 1 as eight bits.
inline std::uint32_t pack_eight(const std::uint8_t* bytes) {
  std::uint64_t eight = 0;
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

/// Where the float mask of each lane begins in a tile.
inline void added_rows(const FlatProblem& p, const LaneBlock& rows, std::ptrdiff_t b,
                       std::int32_t j0, const float** from) {
  for (int n = 0; n < rows.width(); ++n) {
    from[n] = p.added + b * p.added_at.b + rows.head[n] * p.added_at.h +
              rows.query[n] * p.added_at.i + j0 * p.added_at.j;
  }
}

/// Whether the float mask leaves any key of a tile visible.
inline bool added_shows_any(const FlatProblem& p, const LaneBlock& rows, std::ptrdiff_t b,
                            std::int32_t j0, int keys) {
  const float* from[max_width];
  added_rows(p, rows, b, j0, from);
  const int given = p.added_at.j == 0 ? 1 : keys;
  for (int n = 0; n < rows.count; ++n) {
    IntVec visible{};
    int key = 0;
    for (; key + lanes <= given; key += lanes) visible |= load(from[n] + key) != -infinity;
    bool shows = any(visible);
    for (; key < given; ++key) shows = shows || from[n][key] != -infinity;
    if (shows) return true;
  }
  return false;
}

}  // namespace
}  // namespace qkv
