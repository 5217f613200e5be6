// Split: from a text to its tokens.
#include "qkv/text/split.hpp"

#include "qkv/base/utf8.hpp"
#include "qkv/text/characters.hpp"

namespace qkv {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

enum class Part { kept, dropped, gap };

Part part_played(char32_t point, const Splitting& splitting) {
  if (is_white_space(point)) return Part::gap;
  switch (splitting.drop) {
    case Drop::nothing:
      return Part::kept;
    case Drop::these:
      return splitting.characters.find(point) == std::u32string::npos ? Part::kept : Part::dropped;
    case Drop::punctuation:
      break;
  }
  if (!is_punctuation(point)) return Part::kept;
  return parts_words(point) ? Part::gap : Part::dropped;
}

}  // namespace

Sentence split(std::string_view text, const Splitting& splitting, const std::string& where) {
  require_utf8(text, where);
  Sentence tokens;
  bool inside = false;  // a token has begun that may go on
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const std::string_view bytes = text.substr(at, point.length);
    at += point.length;
    const Part part = part_played(point.value, splitting);
    if (part == Part::dropped) continue;
    if (part == Part::gap) {
      inside = false;
    } else if (inside && !splitting.per_char) {
      tokens.back() += bytes;
    } else {
      tokens.emplace_back(bytes);
      inside = true;
    }
  }
  return tokens;
}

std::u32string code_points(std::string_view text, const std::string& where) {
  require_utf8(text, where);
  std::u32string points;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    points += point.value;
    at += point.length;
  }
  return points;
}

std::vector<std::string> lines_of(std::string_view text, const std::string& where) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    require_utf8(line, where + ", line " + std::to_string(lines.size() + 1));
    lines.emplace_back(line);
  }
  return lines;
}

}  // namespace qkv
