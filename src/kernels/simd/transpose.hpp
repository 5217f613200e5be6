// Rows into lanes and back: a matrix whose rows lie anywhere, transposed register by register.
#pragma once

#include "kernels/simd/vec.hpp"

namespace qkv {
namespace {

#if !defined(__AVX512F__) && defined(QKV_MATRIX_UNIT)
/// Transposes a square of numbers: shuffles of registers that the CPU has not would be slower.
inline void transpose_square(Vec (&rows)[lanes]) {
  float square[lanes][lanes], turned[lanes][lanes];
  __builtin_memcpy(square, rows, sizeof square);
  for (int r = 0; r < lanes; ++r)
    for (int c = 0; c < lanes; ++c) turned[c][r] = square[r][c];
  __builtin_memcpy(rows, turned, sizeof turned);
}
#else
#if defined(__AVX512F__)
inline Vec low_halves(Vec a, Vec b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
inline Vec high_halves(Vec a, Vec b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
}
#elif defined(__AVX__)
inline Vec low_halves(Vec a, Vec b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
inline Vec high_halves(Vec a, Vec b) {
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#else
inline Vec low_halves(Vec a, Vec b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
inline Vec high_halves(Vec a, Vec b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
#endif

/// Transposes a square of registers: each round interleaves row r with row r + lanes/2, and
/// log2(lanes) such perfect shuffles exchange the two halves of an element's index.
inline void transpose_square(Vec (&rows)[lanes]) {
#pragma GCC unroll 4
  for (int round = 1; round < lanes; round *= 2) {
    Vec next[lanes];
#pragma GCC unroll 8
    for (int r = 0; r < lanes / 2; ++r) {
      next[2 * r] = low_halves(rows[r], rows[r + lanes / 2]);
      next[2 * r + 1] = high_halves(rows[r], rows[r + lanes / 2]);
    }
#pragma GCC unroll 16
    for (int r = 0; r < lanes; ++r) rows[r] = next[r];
  }
}
#endif

/// to[column*width + lane] = rows[lane][column], for `width` lanes, a multiple of `lanes`.
inline void rows_to_lanes(const float* const* rows, int width, std::ptrdiff_t columns, float* to) {
  for (int first = 0; first < width; first += lanes) {
    std::ptrdiff_t column = 0;
    for (; column + lanes <= columns; column += lanes) {
      Vec square[lanes];
#pragma GCC unroll 16
      for (int r = 0; r < lanes; ++r) square[r] = load(rows[first + r] + column);
      transpose_square(square);
#pragma GCC unroll 16
      for (int r = 0; r < lanes; ++r) store(to + (column + r) * width + first, square[r]);
    }
    for (; column < columns; ++column)
      for (int r = 0; r < lanes; ++r) to[column * width + first + r] = rows[first + r][column];
  }
}

/// rows[lane][column] = from[column*width + lane], for the first `count` lanes.
inline void lanes_to_rows(const float* from, int width, std::ptrdiff_t columns, int count,
                          float* const* rows) {
  for (int first = 0; first < count; first += lanes) {
    const int here = count - first < lanes ? count - first : lanes;
    std::ptrdiff_t column = 0;
    for (; column + lanes <= columns; column += lanes) {
      Vec square[lanes];
#pragma GCC unroll 16
      for (int r = 0; r < lanes; ++r) square[r] = load(from + (column + r) * width + first);
      transpose_square(square);
      // Not unrolled where rows are missing: the squares would have to be addressable.
      if (here == lanes) {
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r) store(rows[first + r] + column, square[r]);
      } else {
        for (int r = 0; r < here; ++r) store(rows[first + r] + column, square[r]);
      }
    }
    for (; column < columns; ++column)
      for (int r = 0; r < here; ++r) rows[first + r][column] = from[column * width + first + r];
  }
}

}  // namespace
}  // namespace qkv
