// Pairs of bfloat16 numbers in words of 32 bits, as a matrix unit takes them: the even one in the
// low half.
#pragma once

#include "kernels/simd/vec.hpp"

namespace qkv {
namespace {

static_assert(lanes == 16, "a tile of a matrix unit has 16 columns");

inline BitVec bits_of(Vec x) { return reinterpret_cast<BitVec>(x); }

/// The upper halves are x rounded to bfloat16, to nearest, ties away from zero. Not for NaN, of
/// which this could make a number.
inline BitVec rounded(Vec x) { return bits_of(x) + 0x8000U; }

/// Not 0 where x does not round to a finite bfloat16.
inline IntVec not_finite(Vec x) { return (bits_of(x) & 0x7fffffffU) >= 0x7f7f8000U; }

/// Word n is (even[n], odd[n]), the upper halves.
inline Vec paired(BitVec even, BitVec odd) {
  return reinterpret_cast<Vec>((even >> 16) | (odd & 0xffff0000U));
}

/// Word n is (x[2n], x[2n+1]) of the 32 numbers x = (first, second).
inline Vec adjacent(Vec first, Vec second) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  typedef std::uint16_t ShortVec __attribute__((vector_size(4 * lanes)));
  return reinterpret_cast<Vec>(__builtin_shufflevector(
      reinterpret_cast<ShortVec>(rounded(first)), reinterpret_cast<ShortVec>(rounded(second)), 1, 3,
      5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51,
      53, 55, 57, 59, 61, 63));
#else
  BitVec even{}, odd{};
  const BitVec low = rounded(first), high = rounded(second);
  for (int n = 0; n < lanes / 2; ++n) {
    even[n] = low[2 * n];
    odd[n] = low[2 * n + 1];
    even[lanes / 2 + n] = high[2 * n];
    odd[lanes / 2 + n] = high[2 * n + 1];
  }
  return paired(even, odd);
#endif
}

/// `count` numbers, 16 at most and zeros behind them; marks what is not finite.
inline Vec load_finite(const float* from, std::ptrdiff_t count, IntVec& off) {
  const Vec x = count >= lanes ? load(from) : (count > 0 ? load_first(from, count) : Vec{});
  off |= not_finite(x);
  return x;
}

/// The words of `count` numbers, 32 at most and zeros behind them.
inline Vec row_words(const float* from, std::ptrdiff_t count, IntVec& off) {
  const Vec first = load_finite(from, count, off);
  return adjacent(first, load_finite(from + lanes, count - lanes, off));
}

}  // namespace
}  // namespace qkv
