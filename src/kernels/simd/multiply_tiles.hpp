// Products of bfloat16 matrices by a matrix unit, a block of up to 32 x 32 sums at a time.
#pragma once

#include <cstddef>

namespace qkv {
namespace {

/// A matrix unit has 8 tiles, each of 16 rows of 16 words, and the functions
///
///   configure(), release()      before the first of those below, and after the last
///   zero<C>()
///   load<T>(from, row)          16 rows of 16 words, `row` words apart
///   multiply<C, A, B>()         c[m][n] += sum_k a[m][2k]*b[2k][n] + a[m][2k+1]*b[2k+1][n], where
///                               word (m,k) of tile A is (a[m][2k], a[m][2k+1]) and word (k,n) of
///                               tile B is (b[2k][n], b[2k+1][n]), bfloat16; c is of floats
///   store<C>(to, row)
///
/// c = a * b: rows of c and a are `c_row` and `a_row` words apart, and so are b's pairs of rows.
///
/// shape   a (16*Rows, 32*steps) and b (32*steps, 16*Columns) bfloat16, c (16*Rows, 16*Columns)
template <int Rows, int Columns, class Unit>
inline void multiply_tiles(Unit& unit, const float* a, std::ptrdiff_t a_row, const float* b,
                           std::ptrdiff_t b_row, std::ptrdiff_t steps, float* c,
                           std::ptrdiff_t c_row) {
  constexpr bool down = Rows == 2, right = Columns == 2;
  unit.template zero<0>();
  if constexpr (right) unit.template zero<1>();
  if constexpr (down) unit.template zero<2>();
  if constexpr (down && right) unit.template zero<3>();
  for (std::ptrdiff_t step = 0; step < steps; ++step) {
    const float* left = a + 16 * step;
    const float* top = b + 16 * step * b_row;
    unit.template load<4>(left, a_row);
    unit.template load<6>(top, b_row);
    unit.template multiply<0, 4, 6>();
    if constexpr (right) {
      unit.template load<7>(top + 16, b_row);
      unit.template multiply<1, 4, 7>();
    }
    if constexpr (down) {
      unit.template load<5>(left + 16 * a_row, a_row);
      unit.template multiply<2, 5, 6>();
    }
    if constexpr (down && right) unit.template multiply<3, 5, 7>();
  }
  unit.template store<0>(c, c_row);
  if constexpr (right) unit.template store<1>(c + 16, c_row);
  if constexpr (down) unit.template store<2>(c + 16 * c_row, c_row);
  if constexpr (down && right) unit.template store<3>(c + 16 * c_row + 16, c_row);
}

}  // namespace
}  // namespace qkv
