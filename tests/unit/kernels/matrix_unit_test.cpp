// Products of tiles: the emulation against arithmetic, and AMX against the emulation.
#include "kernels/matrix_unit.hpp"

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/simd/matrix_functions.hpp"
#include "qkv/tensor/half.hpp"
#include "qkv/tensor/random.hpp"

using namespace qkv;

namespace {

/// 256 words: a tile of floats, or of pairs of bfloat16.
using Tile = std::array<float, 256>;

float word(float low, float high) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(float_to_bfloat16(low)) |
                              static_cast<std::uint32_t>(float_to_bfloat16(high)) << 16);
}

float part(float pair, std::size_t n) {
  return bfloat16_to_float(
      static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(pair) >> (16 * n)));
}

struct Tiles {
  Tile a = {}, b = {}, c = {};
};

Tiles normal_tiles() {
  Tiles tiles;
  Random random(11, "tiles");
  const auto next = [&] { return static_cast<float>(random.normal()); };
  for (std::size_t n = 0; n < 256; ++n) {
    const float low = next(), high = next();
    tiles.a[n] = word(low, high);
    tiles.b[n] = word(next(), low * high);
    tiles.c[n] = next();
  }
  return tiles;
}

Tile product(const MatrixFunctions& functions, Tiles tiles) {
  functions.multiply(tiles.a.data(), tiles.b.data(), tiles.c.data());
  return tiles.c;
}

}  // namespace

TEST_CASE("matrix unit: the emulation multiplies pairs of rows and adds in float32") {
  const Tiles tiles = normal_tiles();
  const Tile got = product(emulated_matrix_functions, tiles);
  for (std::size_t m = 0; m < 16; ++m) {
    for (std::size_t n = 0; n < 16; ++n) {
      const auto c = static_cast<double>(tiles.c[16 * m + n]);
      double sum = c, size = std::abs(c);
      for (std::size_t k = 0; k < 32; ++k) {
        const double x = static_cast<double>(part(tiles.a[16 * m + k / 2], k % 2)) *
                         static_cast<double>(part(tiles.b[16 * (k / 2) + n], k % 2));
        sum += x;
        size += std::abs(x);
      }
      // Products of 8 by 8 bits are exact; a term goes through 18 additions at most.
      CHECK(std::abs(static_cast<double>(got[16 * m + n]) - sum) <= 18 * 0x1p-24 * size);
    }
  }
}

TEST_CASE("matrix unit: the emulation takes denormals for zero, and lets NaN and Inf through") {
  Tiles tiles;
  tiles.a[0] = word(1, 0x1p-127F);
  tiles.b[0] = word(0x1p-127F, 0x1p127F);
  tiles.c[0] = 0x1p-130F;
  CHECK(product(emulated_matrix_functions, tiles)[0] == 0);
  tiles.a[0] = word(INFINITY, 1);
  tiles.b[0] = word(2, 3);
  CHECK(product(emulated_matrix_functions, tiles)[0] == INFINITY);
  tiles.b[0] = word(0, 3);
  CHECK(std::isnan(product(emulated_matrix_functions, tiles)[0]));
}

#if defined(__x86_64__)
TEST_CASE("matrix unit: AMX gives the bits that the emulation gives") {
  if (!matrix_unit().usable) {
    WARN("skipped: this CPU is " << matrix_unit().lacks << " AMX-BF16");
    return;
  }
  Tiles tiles = normal_tiles();
  CHECK(product(amx_functions, tiles) == product(emulated_matrix_functions, tiles));
  // About half of a's numbers become denormal; the products do not, whose rounding would then be
  // that of a multiply-add here and of a product there.
  for (float& x : tiles.a) x = word(part(x, 0) * 0x1p-126F, part(x, 1) * 0x1p-126F);
  for (float& x : tiles.b) x = word(part(x, 0) * 0x1p40F, part(x, 1) * 0x1p40F);
  for (float& x : tiles.c) x *= 0x1p-86F;
  CHECK(product(amx_functions, tiles) == product(emulated_matrix_functions, tiles));
}
#endif
