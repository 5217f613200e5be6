// Text width: columns that UTF-8 text takes up on a terminal, and cutting it there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qkv {

/// A letter with the combining marks that follow it.
struct Glyph {
  std::string text;
  std::size_t columns = 1;  ///< 0 where a text begins with a combining mark
};

/// The text letter by letter, as it is read.
std::vector<Glyph> glyphs(std::string_view text);

/// Columns that a text takes up: 2 for East Asian wide letters and most emoji, 0 for combining
/// marks and format characters, 1 for all else.
std::size_t display_width(std::string_view text);

/// The text if it takes up at most `columns`, or else its beginning and "…", which is at most so
/// wide.
std::string clipped(std::string_view text, std::size_t columns);

/// Blanks before or behind the text until it takes up `columns`.
std::string padded_left(std::string_view text, std::size_t columns);
std::string padded_right(std::string_view text, std::size_t columns);

}  // namespace qkv
