// Split: cleaning and splitting, in many scripts.
#include "qkv/text/split.hpp"

#include <catch2/catch.hpp>

#include "unit/text/golden_text.hpp"

using namespace qkv;
using namespace qkv::test;

TEST_CASE("split: the six-word sentence without its comma") {
  CHECK(split("Life is short, eat dessert first", {}, "TEXT") ==
        Sentence{"Life", "is", "short", "eat", "dessert", "first"});
}

TEST_CASE("split: the tokens that Python's replace() and split() make, in every script") {
  REQUIRE(golden_text("splits").items().size() == 80);
  for (const Json& golden : golden_text("splits").items()) {
    const Json& drop = *golden.find("drop");
    Splitting splitting{.per_char = golden.find("per_char")->flag()};
    if (drop.kind() == Json::Kind::text) {
      splitting.drop = Drop::these;
      splitting.characters = code_points(drop.text(), "--drop");
    }
    const std::string& text = golden.find("text")->text();
    // U+2014, U+2026 and the like, which part words, are in none of these texts.
    CHECK(split(text, splitting, "TEXT") == strings(*golden.find("tokens")));
    if (drop.kind() == Json::Kind::text && drop.text().empty()) {
      const Splitting keep{.drop = Drop::nothing, .per_char = splitting.per_char};
      CHECK(split(text, keep, "TEXT") == strings(*golden.find("tokens")));
    }
  }
}

TEST_CASE("split: a mark that stands between words without a blank leaves them apart") {
  const auto words = [](std::string_view text) { return split(text, {}, "TEXT"); };
  CHECK(words("你好，世界。再见") == Sentence{"你好", "世界", "再见"});
  CHECK(words("「はい」と・いう") == Sentence{"はい", "と", "いう"});
  CHECK(words("ሰላም፡ዓለም።") == Sentence{"ሰላም", "ዓለም"});
  CHECK(words("བཀྲ་ཤིས") == Sentence{"བཀྲ", "ཤིས"});
  CHECK(words("first—then…last") == Sentence{"first", "then", "last"});
  CHECK(words("don’t l’été") == Sentence{"dont", "lété"});
  CHECK(split("first—then", {.drop = Drop::nothing}, "TEXT") == Sentence{"first—then"});
}

TEST_CASE("split: per character, white space is no token and a token is a code point") {
  const Splitting per_char{.per_char = true};
  CHECK(split("我爱 NLP。", per_char, "TEXT") == Sentence{"我", "爱", "N", "L", "P"});
  CHECK(split("e\u0301", per_char, "TEXT") == Sentence{"e", "\u0301"});
  CHECK(split("是,", {.drop = Drop::nothing, .per_char = true}, "TEXT") == Sentence{"是", ","});
}

TEST_CASE("split: nothing is left of punctuation, white space or nothing") {
  for (const std::string_view text : {"", " \t\u3000", "... --- ...", "。、"})
    CHECK(split(text, {}, "TEXT").empty());
}

TEST_CASE("split: a byte that is no UTF-8 is named") {
  CHECK(told([] { split("caf\xe9 noir", {}, "TEXT"); }).find("(TEXT, byte 3)") !=
        std::string::npos);
}

TEST_CASE("lines_of: LF, CR LF, a byte order mark and a last line without an end") {
  using Lines = std::vector<std::string>;
  CHECK(lines_of("a\nb\r\nc", "f") == Lines{"a", "b", "c"});
  CHECK(lines_of("\xef\xbb\xbf"
                 "a\n\n",
                 "f") == Lines{"a", ""});
  CHECK(lines_of("", "f").empty());
  CHECK(lines_of(" a \n", "f") == Lines{" a "});
  CHECK(told([] { lines_of("a\nb\xff\n", "f"); }).find("no UTF-8 (f, line 2, byte 1)") == 0);
}
