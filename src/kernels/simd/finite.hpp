// Whether numbers are all finite, at the speed of memory.
#pragma once

#include "kernels/simd/vec.hpp"

namespace qkv {
namespace {

/// True where `rows` rows of `columns` numbers, `row` apart, hold neither NaN nor infinity.
inline bool all_finite(const float* from, std::ptrdiff_t row, std::ptrdiff_t rows,
                       std::ptrdiff_t columns) {
  for (std::ptrdiff_t r = 0; r < rows; ++r, from += row) {
    // x*0 is 0 unless x is NaN or infinite, and then NaN, which a sum keeps.
    Vec sums{};
    std::ptrdiff_t n = 0;
    for (; n + lanes <= columns; n += lanes) sums += load(from + n) * 0.0F;
    float rest = 0;
    for (; n < columns; ++n) rest += from[n] * 0.0F;
    rest += sum_of(sums);
    if (!(rest == 0)) return false;
  }
  return true;
}

}  // namespace
}  // namespace qkv
