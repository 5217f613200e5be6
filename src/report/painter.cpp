// Painter: SGR escape sequences of ECMA-48, colours as ISO 8613-6 and xterm have them.
#include "report/painter.hpp"

#include <fmt/format.h>

#include "report/text_width.hpp"

namespace qkv {

void Painter::colour(char layer, std::optional<Rgb> wanted, std::optional<Rgb>& now) {
  if (wanted == now || depth_ == ColourDepth::plain) return;
  now = wanted;
  if (!wanted) {
    line_ += fmt::format("\x1b[{}9m", layer);
  } else if (depth_ == ColourDepth::truecolour) {
    line_ += fmt::format("\x1b[{}8;2;{};{};{}m", layer, wanted->r, wanted->g, wanted->b);
  } else {
    line_ += fmt::format("\x1b[{}8;5;{}m", layer, ansi256(*wanted));
  }
}

void Painter::put(std::string_view text, std::optional<Rgb> ink, std::optional<Rgb> paper) {
  colour('3', ink, ink_);
  colour('4', paper, paper_);
  line_ += text;
  columns_ += display_width(text);
}

void Painter::fill(std::size_t columns) {
  if (columns_ < columns) put(std::string(columns - columns_, ' '));
}

std::string Painter::take() {
  if (ink_ || paper_) line_ += "\x1b[0m";
  std::string line = std::move(line_);
  *this = Painter(depth_);
  return line;
}

}  // namespace qkv
