// heat_png(): read back by another decoder, pixel by pixel.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "qkv/report/heat.hpp"
#include "support/arrays.hpp"
#include "support/png.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

using Pixel = std::array<int, 3>;
const double inf = std::numeric_limits<double>::infinity();

Png drawn(const Shape& shape, const std::vector<double>& numbers) {
  const Matrices matrices = matrices_of(array_of(shape, numbers).array, "t.npy");
  return decoded_png(heat_png(heat_map(matrices, png_limits(matrices), {}, {})));
}

}  // namespace

TEST_CASE("heat png: every pixel of a cell has the cell's colour") {
  // 768 / 3 is more than the largest cell of 32.
  const Png png = drawn({2, 3}, {0, 1, -inf, std::nan(""), inf, 1});
  REQUIRE(png.width == 96);
  REQUIRE(png.height == 64);
  // The ends of the map as computed apart from the program, and the three colours of no number.
  const Pixel low = {0x1c, 0x0e, 0x40}, high = {0xf3, 0xf2, 0x87};
  const Pixel wanted[2][3] = {{low, high, {128, 128, 128}}, {{255, 0, 200}, {0, 255, 60}, high}};
  for (std::size_t y = 0; y < 64; ++y) {
    for (std::size_t x = 0; x < 96; ++x) {
      INFO(x << "," << y);
      REQUIRE(png.at(x, y) == wanted[y / 32][x / 32]);
    }
  }
}

TEST_CASE("heat png: panels stand in a square grid with white between them") {
  // Three matrices of (1,2), two in a row: 2 * (2 * 32) + 8 wide, 2 * 32 + 8 high.
  const Png png = drawn({3, 1, 2}, {0, 1, 1, 1, 0, 0});
  REQUIRE(png.width == 136);
  REQUIRE(png.height == 72);
  const Pixel low = {0x1c, 0x0e, 0x40}, high = {0xf3, 0xf2, 0x87}, white = {255, 255, 255};
  CHECK(png.at(0, 0) == low);
  CHECK(png.at(63, 31) == high);
  CHECK(png.at(64, 0) == white);
  CHECK(png.at(72, 0) == high);
  CHECK(png.at(0, 32) == white);
  CHECK(png.at(0, 40) == low);
  CHECK(png.at(72, 40) == white);  // where a fourth would stand
}

TEST_CASE("heat png: a large matrix has a pixel a cell, a larger one is averaged") {
  const Png whole = drawn({2, 1000}, std::vector<double>(2000, 1.0));
  CHECK(whole.width == 1000);
  CHECK(whole.height == 2);
  const Png averaged = drawn({1, 5000}, std::vector<double>(5000, 1.0));
  CHECK(averaged.width == 2500);
}
