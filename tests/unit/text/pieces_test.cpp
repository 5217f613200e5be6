// Pieces: the joining by least id, bytes, blanks.
#include "qkv/text/pieces.hpp"

#include <catch2/catch.hpp>

using namespace qkv;

namespace {

const Vocabulary vocabulary({"<s>", "<0x0A>", "<0xC3>", "<0xA9>", "ab", "bc", " a", "abc", " ", "a",
                             "b", "c"});

}  // namespace

TEST_CASE("split_pieces: the pair of the least id is joined first, the leftmost of two") {
  // " abcab": ab (4) before " a" (6) and bc (5), both of them; then ab + c is abc (7).
  CHECK(split_pieces("abcab", vocabulary, "TEXT") == Sentence{" ", "abc", "ab"});
  CHECK(split_pieces("aca", vocabulary, "TEXT") == Sentence{" a", "c", "a"});
  CHECK(split_pieces("", vocabulary, "TEXT").empty());
}

TEST_CASE("split_pieces: a character that is no piece becomes its bytes, and they it again") {
  const Sentence pieces = split_pieces("a\né", vocabulary, "TEXT");
  CHECK(pieces == Sentence{" a", "<0x0A>", "<0xC3>", "<0xA9>"});
  CHECK(join_pieces(pieces) == "a\né");
}

TEST_CASE("join_pieces: only the blank in front goes, and what merely looks like a byte stays") {
  CHECK(join_pieces({" ", " a", "<0xZZ>", "<0x0a>"}) == " a<0xZZ><0x0a>");
}
