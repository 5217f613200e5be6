// Colour: from OKLab to sRGB, to a map, to a terminal's palette.
#include "report/colour.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace qkv {

namespace {

/// Lightness, chroma, and hue in degrees.
Oklab polar(double lightness, double chroma, double hue) {
  const double angle = hue * std::numbers::pi / 180;
  return {lightness, chroma * std::cos(angle), chroma * std::sin(angle)};
}

Oklab mixed(const Oklab& from, const Oklab& to, double share) {
  return {from.lightness + (to.lightness - from.lightness) * share,
          from.a + (to.a - from.a) * share, from.b + (to.b - from.b) * share};
}

double distance(const Oklab& one, const Oklab& other) {
  return std::hypot(one.lightness - other.lightness, one.a - other.a, one.b - other.b);
}

std::uint8_t channel(double linear) {
  const double light = std::clamp(linear, 0.0, 1.0);
  const double signal =
      light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * signal));
}

/// A cubic Bézier curve, by de Casteljau's construction.
Oklab on_curve(const std::array<Oklab, 4>& points, double t) {
  std::array<Oklab, 4> level = points;
  for (std::size_t count = 3; count > 0; --count) {
    for (std::size_t n = 0; n < count; ++n) level[n] = mixed(level[n], level[n + 1], t);
  }
  return level[0];
}

/// WCAG's linear light of one channel.
double linear(std::uint8_t channel) {
  const double signal = channel / 255.0;
  return signal <= 0.04045 ? signal / 12.92 : std::pow((signal + 0.055) / 1.055, 2.4);
}

int squared_distance(Rgb one, Rgb other) {
  const int r = one.r - other.r, g = one.g - other.g, b = one.b - other.b;
  return r * r + g * g + b * b;
}

/// The place of the nearest of the cube's levels.
int nearest_level(std::uint8_t channel) {
  return channel < 48 ? 0 : channel < 115 ? 1 : (channel - 35) / 40;
}

}  // namespace

Rgb srgb(const Oklab& colour) {
  const auto cube = [&](double a, double b) {
    const double root = colour.lightness + a * colour.a + b * colour.b;
    return root * root * root;
  };
  const double l = cube(0.3963377774, 0.2158037573);
  const double m = cube(-0.1055613458, -0.0638541728);
  const double s = cube(-0.0894841775, -1.2914855480);
  return {channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

ColourMap ColourMap::sequential() {
  const std::array<Oklab, 4> points = {polar(0.22, 0.09, 290), polar(0.42, 0.14, 265),
                                       polar(0.66, 0.15, 175), polar(0.94, 0.13, 108)};
  // The curve's length up to each of many points, then the points at equal lengths.
  constexpr std::size_t fine = 4096;
  std::vector<double> length(fine + 1, 0.0);
  for (std::size_t n = 1; n <= fine; ++n) {
    const double here = static_cast<double>(n) / fine, before = static_cast<double>(n - 1) / fine;
    length[n] = length[n - 1] + distance(on_curve(points, here), on_curve(points, before));
  }
  ColourMap map;
  std::size_t n = 0;
  for (std::size_t step = 0; step < size; ++step) {
    const double wanted = length[fine] * static_cast<double>(step) / (size - 1);
    while (n < fine && length[n] < wanted) ++n;
    map.colours_[step] = srgb(on_curve(points, static_cast<double>(n) / fine));
  }
  return map;
}

ColourMap ColourMap::diverging() {
  const Oklab middle = polar(0.965, 0, 0);
  const Oklab below = polar(0.45, 0.14, 255), above = polar(0.45, 0.14, 35);
  ColourMap map;
  for (std::size_t step = 0; step < size; ++step) {
    const double signed_share = 2.0 * static_cast<double>(step) / (size - 1) - 1;
    map.colours_[step] =
        srgb(mixed(middle, signed_share < 0 ? below : above, std::abs(signed_share)));
  }
  return map;
}

Rgb ColourMap::at(double position) const {
  const double step = std::clamp(position, 0.0, 1.0) * (size - 1);
  return colours_[static_cast<std::size_t>(std::lround(step))];
}

Rgb ink_on(Rgb background) {
  const double luminance =
      0.2126 * linear(background.r) + 0.7152 * linear(background.g) + 0.0722 * linear(background.b);
  return luminance > 0.179 ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
}

std::string hex(Rgb colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.r, colour.g, colour.b);
}

int ansi256(Rgb colour) {
  constexpr std::uint8_t levels[] = {0, 95, 135, 175, 215, 255};
  const int r = nearest_level(colour.r), g = nearest_level(colour.g), b = nearest_level(colour.b);
  const Rgb cube = {levels[r], levels[g], levels[b]};
  const int mean = (colour.r + colour.g + colour.b) / 3;
  const int step = std::clamp((mean - 3) / 10, 0, 23);
  const auto level = static_cast<std::uint8_t>(8 + 10 * step);
  const bool grey =
      squared_distance(colour, {level, level, level}) < squared_distance(colour, cube);
  return grey ? 232 + step : 16 + 36 * r + 6 * g + b;
}

}  // namespace qkv
