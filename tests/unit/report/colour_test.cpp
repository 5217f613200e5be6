// Colour: the maps against colours computed elsewhere, and against the metric they promise.
#include "report/colour.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace qkv;

namespace {

struct Lab {
  double l, a, b;
};

/// sRGB to OKLab by the published matrices, the way round that the program does not go.
Lab oklab(Rgb colour) {
  const auto linear = [](std::uint8_t channel) {
    const double v = channel / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  const double r = linear(colour.r), g = linear(colour.g), b = linear(colour.b);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

double distance(const Lab& one, const Lab& other) {
  return std::hypot(one.l - other.l, one.a - other.a, one.b - other.b);
}

/// Distances between every 17th colour: long steps, so that rounding to 8 bits is small beside
/// them.
std::vector<double> steps(const ColourMap& map) {
  std::vector<double> lengths;
  for (std::size_t n = 17; n < ColourMap::size; n += 17)
    lengths.push_back(distance(oklab(map.colours()[n]), oklab(map.colours()[n - 17])));
  return lengths;
}

}  // namespace

TEST_CASE("srgb: white, black and the primaries have their published OKLab coordinates") {
  CHECK(srgb({1, 0, 0}) == Rgb{255, 255, 255});
  CHECK(srgb({0, 0, 0}) == Rgb{0, 0, 0});
  CHECK(srgb({0.6279554, 0.2248631, 0.1258463}) == Rgb{255, 0, 0});
  CHECK(srgb({0.8664396, -0.2338876, 0.1794985}) == Rgb{0, 255, 0});
  CHECK(srgb({0.4520137, -0.0324570, -0.3115281}) == Rgb{0, 0, 255});
}

TEST_CASE("colour map: the ends and the middle are the colours of the formula") {
  CHECK(hex(ColourMap::sequential().at(0)) == "#1c0e40");
  CHECK(hex(ColourMap::sequential().at(1)) == "#f3f287");
  CHECK(hex(ColourMap::diverging().at(0)) == "#0c54a0");
  CHECK(hex(ColourMap::diverging().at(0.5)) == "#f3f3f3");
}

TEST_CASE("colour map: steps of the scale are steps of equal size to the eye") {
  for (const ColourMap& map : {ColourMap::sequential(), ColourMap::diverging()}) {
    auto lengths = steps(map);
    // The diverging map turns round in its middle step.
    if (map.colours() == ColourMap::diverging().colours()) lengths.erase(lengths.begin() + 7);
    const auto [least, most] = std::ranges::minmax(lengths);
    // Half a channel's step is at most 0.004 in OKLab here; a step of 17 is above 0.03.
    CHECK(most / least < 1.15);
  }
}

TEST_CASE("colour map: the sequential one only gets lighter, the diverging one darker both ways") {
  const ColourMap sequential = ColourMap::sequential(), diverging = ColourMap::diverging();
  for (std::size_t n = 8; n < ColourMap::size; n += 8) {
    CHECK(oklab(sequential.colours()[n]).l > oklab(sequential.colours()[n - 8]).l);
    // Index 127 is the middle; of the two, the nearer to it is the lighter.
    const bool nearer = std::abs(static_cast<int>(n) - 127) < std::abs(static_cast<int>(n) - 135);
    CHECK((oklab(diverging.colours()[n]).l > oklab(diverging.colours()[n - 8]).l) == nearer);
  }
}

TEST_CASE("colour map: cells that are no number have colours far from every number's") {
  for (const ColourMap& map : {ColourMap::sequential(), ColourMap::diverging()}) {
    for (const Rgb kind : {hidden_colour, nan_colour, infinite_colour}) {
      double nearest = 1;
      for (const Rgb colour : map.colours())
        nearest = std::min(nearest, distance(oklab(colour), oklab(kind)));
      CHECK(nearest > 0.05);
    }
  }
}

TEST_CASE("ansi256: the cube and the greys, by the levels that xterm documents") {
  CHECK(ansi256({0, 0, 0}) == 16);
  CHECK(ansi256({255, 255, 255}) == 231);
  CHECK(ansi256({255, 0, 0}) == 196);
  CHECK(ansi256({95, 135, 175}) == 67);    // 16 + 36*1 + 6*2 + 3
  CHECK(ansi256({128, 128, 128}) == 244);  // 8 + 10*12
  CHECK(ansi256({8, 8, 8}) == 232);
  CHECK(ansi256({238, 238, 238}) == 255);
}

TEST_CASE("ink: black on light, white on dark") {
  CHECK(ink_on({255, 255, 255}) == Rgb{0, 0, 0});
  CHECK(ink_on({28, 14, 64}) == Rgb{255, 255, 255});
}
