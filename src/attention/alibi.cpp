// ALiBi: biases that grow with the distance between query and key, one slope a head.
#include "qkv/attention/alibi.hpp"

#include <bit>
#include <cmath>

namespace qkv {

std::vector<double> alibi_slopes(std::size_t H) {
  std::vector<double> slopes(H);
  if (H == 0) return slopes;
  const std::size_t n = std::bit_floor(H);
  const auto whole = static_cast<double>(n);
  for (std::size_t h = 0; h < H; ++h) {
    // Heads beyond the power of two take every other slope of one with twice as many.
    const double exponent =
        h < n ? 8 * static_cast<double>(h + 1) : 4 * static_cast<double>(2 * (h - n) + 1);
    slopes[h] = std::exp2(-exponent / whole);
  }
  return slopes;
}

}  // namespace qkv
