// Colour: two perceptually uniform colour maps, and what a terminal makes of a colour.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace qkv {

/// sRGB, 8 bits a channel.
struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  bool operator==(const Rgb&) const = default;
};

/// A colour in OKLab: lightness 0 to 1, green to red, blue to yellow. Equal distances look equal.
struct Oklab {
  double lightness = 0, a = 0, b = 0;
};

/// shape   one colour -> one colour
/// edge    what sRGB cannot show is cut to 0 or 255, channel by channel
/// source  Björn Ottosson 2020, "A perceptual color space for image processing"; IEC 61966-2-1
Rgb srgb(const Oklab& colour);

/// 255 colours from the low end of a scale to its high end, neighbours equally far apart in OKLab;
/// one of them is exactly the middle.
class ColourMap {
 public:
  static constexpr std::size_t size = 255;

  /// For weights: dark indigo, through blue and green, to light yellow. A Bézier curve in OKLab,
  /// cut into steps of equal length.
  static ColourMap sequential();
  /// Around zero: blue below, nearly white at the middle, red-brown above. Two straight lines of
  /// equal length.
  static ColourMap diverging();

  /// position  0 to 1; what lies outside is taken for the nearer end
  Rgb at(double position) const;
  const std::array<Rgb, size>& colours() const { return colours_; }

 private:
  std::array<Rgb, size> colours_ = {};
};

/// Cells that have no place on a scale, in colours that neither map has.
inline constexpr Rgb hidden_colour = {128, 128, 128};
inline constexpr Rgb nan_colour = {255, 0, 200};
inline constexpr Rgb infinite_colour = {0, 255, 60};

/// Black or white, whichever stands out more from `background`.
/// source  relative luminance of WCAG 2.1: above 0.179 black has the greater contrast
Rgb ink_on(Rgb background);

/// "#0a1b2c"
std::string hex(Rgb colour);

/// The nearest of the 240 colours of a 256-colour terminal that no theme changes: 16 to 231 the
/// cube of levels 0, 95, 135, 175, 215, 255, and 232 to 255 the greys 8, 18 ... 238.
int ansi256(Rgb colour);

}  // namespace qkv
