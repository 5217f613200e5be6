// Text width: wide letters, combining marks, and where a text is cut.
#include "report/text_width.hpp"

#include <catch2/catch.hpp>

using namespace qkv;

TEST_CASE("display_width: wide letters take two columns, combining marks none") {
  CHECK(display_width("注意") == 4);
  CHECK(display_width("ｗｉｄｅ") == 8);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("नि") == 2);  // a spacing vowel sign
  CHECK(display_width("न्") == 1);   // virama
  CHECK(display_width("한") == 2);
  CHECK(display_width("\u1112\u1161\u11ab") == 2);  // the same syllable in its three letters
  CHECK(display_width("😀") == 2);
  CHECK(display_width("a\u200db") == 2);  // zero width joiner
  CHECK(display_width("▁Ġ") == 2);
}

TEST_CASE("glyphs: a mark stays with its letter") {
  const auto letters = glyphs("e\u0301x注");
  REQUIRE(letters.size() == 3);
  CHECK(letters[0].text == "e\u0301");
  CHECK(letters[0].columns == 1);
  CHECK(letters[1].text == "x");
  CHECK(letters[2].columns == 2);
  CHECK(glyphs("").empty());
}

TEST_CASE("clipped: never wider than asked, and whole letters only") {
  CHECK(clipped("short", 5) == "short");
  CHECK(clipped("dessert", 5) == "dess…");
  CHECK(clipped("注意力", 6) == "注意力");
  CHECK(clipped("注意力", 5) == "注意…");
  CHECK(clipped("注意力", 4) == "注…");  // 意 would make 5
  CHECK(clipped("e\u0301e\u0301e\u0301", 2) == "e\u0301…");
  CHECK(clipped("word", 1) == "…");
  CHECK(clipped("word", 0).empty());
}

TEST_CASE("padded: to columns, not to bytes") {
  CHECK(padded_left("注", 4) == "  注");
  CHECK(padded_right("é", 3) == "é  ");
  CHECK(padded_left("long", 2) == "long");
}
