// Characters: white space and punctuation are those of Unicode.
#include "qkv/text/characters.hpp"

#include <catch2/catch.hpp>

#include "unit/text/golden_text.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

std::vector<char> marked(const char* key) {
  std::vector<char> points(0x110000, 0);
  for (const Json& range : golden_text(key).items()) {
    const auto first = static_cast<std::size_t>(range.items()[0].number());
    const auto last = static_cast<std::size_t>(range.items()[1].number());
    for (std::size_t point = first; point <= last; ++point) points[point] = 1;
  }
  return points;
}

}  // namespace

TEST_CASE("is_white_space: where Python's split() parts words, and the zero width space") {
  const std::vector<char> wanted = marked("white_space");
  std::size_t wrong = 0;
  for (char32_t point = 0; point < 0x110000; ++point)
    wrong += is_white_space(point) != (wanted[point] != 0) ? 1 : 0;
  CHECK(wrong == 0);
}

TEST_CASE("is_punctuation: every assigned code point of the categories P*, and no other") {
  const std::vector<char> wanted = marked("punctuation"), unassigned = marked("unassigned");
  std::size_t wrong = 0;
  for (char32_t point = 0; point < 0x110000; ++point) {
    if (unassigned[point] == 0) wrong += is_punctuation(point) != (wanted[point] != 0) ? 1 : 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("parts_words: only punctuation does, and no mark inside words or of ASCII") {
  const std::vector<char> unassigned = marked("unassigned");
  std::size_t wrong = 0;
  for (char32_t point = 0; point < 0x110000; ++point) {
    if (parts_words(point) && unassigned[point] == 0 && !is_punctuation(point)) ++wrong;
    if (parts_words(point) && point < 0x80) ++wrong;
  }
  CHECK(wrong == 0);
  for (const char32_t mark : {U'’', U'‐', U'·', U'׳', U'״', U'،'}) CHECK_FALSE(parts_words(mark));
  for (const char32_t mark : {U'、', U'。', U'，', U'「', U'—', U'…', U'፡', U'་', U'・'})
    CHECK(parts_words(mark));
}
