// Rows of q, k and v: floats where they lie, halves widened to floats.
#pragma once

#include "kernels/simd/flat_problem.hpp"
#include "kernels/simd/vec.hpp"

namespace qkv {
namespace {

typedef std::uint16_t HalfVec __attribute__((vector_size(2 * lanes), aligned(2), may_alias));

/// float16 or bfloat16 bits as floats. float16 by whole numbers, so that every CPU can and small
/// numbers stay what they are: the fraction goes to its place, and a product with 2^112 moves the
/// exponent; what was all ones stays so.
template <class Floats, class Bits>
inline Floats widened_bits(Bits half, bool bfloat) {
  Bits bits = half << 16;
  if (!bfloat) {
    const Bits magnitude = (half & 0x7fffU) << 13;
    Floats moved;
    __builtin_memcpy(&moved, &magnitude, sizeof moved);
    moved *= 0x1p112F;
    Bits moved_bits;
    __builtin_memcpy(&moved_bits, &moved, sizeof moved_bits);
    bits =
        (half & 0x8000U) << 16 | (magnitude >= 0x0f800000U ? magnitude | 0x7f800000U : moved_bits);
  }
  Floats floats;
  __builtin_memcpy(&floats, &bits, sizeof floats);
  return floats;
}

/// to[n] = from[n] for `count` halves.
inline void widen(const std::uint16_t* from, std::ptrdiff_t count, bool bfloat, float* to) {
  std::ptrdiff_t n = 0;
  for (; n + lanes <= count; n += lanes) {
    const HalfVec half = *reinterpret_cast<const HalfVec*>(from + n);
    store(to + n, widened_bits<Vec>(__builtin_convertvector(half, BitVec), bfloat));
  }
  for (; n < count; ++n) to[n] = widened_bits<float>(static_cast<std::uint32_t>(from[n]), bfloat);
}

/// Rows of floats, `row` apart.
struct FloatRows {
  const float* at;
  std::ptrdiff_t row;
};

inline std::ptrdiff_t offset(const Source& source, std::ptrdiff_t b, std::ptrdiff_t h,
                             std::ptrdiff_t i) {
  return b * source.at.b + h * source.at.h + i * source.at.i;
}

/// `count` rows from row i on as floats: where they lie, or in `room`, of count*columns numbers.
inline FloatRows float_rows(const Source& source, std::ptrdiff_t b, std::ptrdiff_t h,
                            std::ptrdiff_t i, std::ptrdiff_t count, std::ptrdiff_t columns,
                            float* room) {
  const std::ptrdiff_t first = offset(source, b, h, i);
  if (source.floats != nullptr) return {source.floats + first, source.at.i};
  for (std::ptrdiff_t n = 0; n < count; ++n)
    widen(source.halves + first + n * source.at.i, columns, source.bfloat, room + n * columns);
  return {room, columns};
}

/// One number.
inline float float_at(const Source& source, std::ptrdiff_t b, std::ptrdiff_t h, std::ptrdiff_t i,
                      std::ptrdiff_t column) {
  const std::ptrdiff_t at = offset(source, b, h, i) + column;
  if (source.floats != nullptr) return source.floats[at];
  return widened_bits<float>(static_cast<std::uint32_t>(source.halves[at]), source.bfloat);
}

/// True where rows [from, to) of one head hold neither NaN nor infinity.
inline bool all_finite(const Source& source, std::ptrdiff_t b, std::ptrdiff_t h,
                       std::ptrdiff_t from, std::ptrdiff_t to, std::ptrdiff_t columns) {
  // x*0 is 0 unless x is NaN or infinite, and then NaN, which a sum keeps.
  for (std::ptrdiff_t i = from; i < to; ++i) {
    const std::ptrdiff_t at = offset(source, b, h, i);
    Vec sums{};
    float rest = 0;
    std::ptrdiff_t n = 0;
    if (source.floats != nullptr) {
      const float* row = source.floats + at;
      for (; n + lanes <= columns; n += lanes) sums += load(row + n) * 0.0F;
      for (; n < columns; ++n) rest += row[n] * 0.0F;
    } else {
      const std::uint16_t* row = source.halves + at;
      for (; n + lanes <= columns; n += lanes) {
        float some[lanes];
        widen(row + n, lanes, source.bfloat, some);
        sums += load(some) * 0.0F;
      }
      for (; n < columns; ++n) {
        float one = 0;
        widen(row + n, 1, source.bfloat, &one);
        rest += one * 0.0F;
      }
    }
    rest += sum_of(sums);
    if (!(rest == 0)) return false;
  }
  return true;
}

}  // namespace
}  // namespace qkv
