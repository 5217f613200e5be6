// Split: from a text to its tokens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qkv {

/// The tokens of one text, in order.
using Sentence = std::vector<std::string>;

enum class Drop {
  punctuation,  ///< all of it; that which parts words becomes white space
  nothing,
  these  ///< Splitting::characters alone, and no gap is left: str.replace(c, '')
};

struct Splitting {
  Drop drop = Drop::punctuation;
  std::u32string characters = {};
  bool per_char = false;  ///< a token is a code point / what stands between white space
};

/// 'Life is short, eat dessert first' -> Life is short eat dessert first
///
/// Dropped characters go first, then the text is parted at white space, of which none is kept.
/// Nothing else is changed: capitals stay, and nothing is composed or decomposed.
///
/// throws  Error "no UTF-8", calling the text `where`
Sentence split(std::string_view text, const Splitting& splitting, const std::string& where);

/// The code points of a text. throws  Error "no UTF-8", calling it `where`
std::u32string code_points(std::string_view text, const std::string& where);

/// The lines of a file, without their ends (LF or CR LF) and without a byte order mark. An empty
/// line at the end is none.
///
/// throws  Error "no UTF-8" naming the line, counted from 1, and its byte
std::vector<std::string> lines_of(std::string_view text, const std::string& where);

}  // namespace qkv
