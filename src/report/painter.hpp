// Painter: a line of text with the escape sequences of its colours, each written only where it
// changes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "qkv/report/heat.hpp"
#include "report/colour.hpp"

namespace qkv {

class Painter {
 public:
  explicit Painter(ColourDepth depth) : depth_(depth) {}

  /// Text in these colours; none is the terminal's own. On a plain terminal, the text alone.
  void put(std::string_view text, std::optional<Rgb> ink = {}, std::optional<Rgb> paper = {});

  /// Blanks in the terminal's own colours, until the line takes up `columns`.
  void fill(std::size_t columns);

  std::size_t columns() const { return columns_; }

  /// The line so far, its colours ended; the painter starts anew.
  std::string take();

 private:
  void colour(char layer, std::optional<Rgb> wanted, std::optional<Rgb>& now);

  ColourDepth depth_;
  std::string line_ = {};
  std::size_t columns_ = 0;
  std::optional<Rgb> ink_ = {}, paper_ = {};
};

}  // namespace qkv
