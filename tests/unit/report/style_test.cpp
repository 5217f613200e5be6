// Style: ASCII where the terminal has nothing else, colour on verdicts only.
#include "report/style.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace qkv;

namespace {
const TextStyle ascii{.unicode = false};
}

TEST_CASE("shown: without Unicode the formulas of the stages have ASCII spellings") {
  CHECK(shown("softmax(q·kᵀ/√4 + mask)·v", ascii) == "softmax(q*k^T/sqrt(4) + mask)*v");
  CHECK(shown("scale 1/√64", ascii) == "scale 1/sqrt(64)");
  CHECK(shown("√(D)", ascii) == "sqrt(D)");
  CHECK(shown("1 ± 6e-08, 2 × 3, x → y, ≤ 1 …", ascii) == "1 +- 6e-08, 2 x 3, x -> y, <= 1 ...");
}

TEST_CASE("shown: what has no ASCII spelling is shown byte by byte, nothing is lost") {
  CHECK(shown("größe.npy", ascii) == "gr\\xc3\\xb6\\xc3\\x9fe.npy");
}

TEST_CASE("shown: with Unicode nothing changes") { CHECK(shown("q·kᵀ/√4", {}) == "q·kᵀ/√4"); }

TEST_CASE("status_word: a word of four letters, coloured only on request") {
  for (const Status status : {Status::pass, Status::warn, Status::fail, Status::skip}) {
    const std::string word = status_word(status, {});
    CHECK(word.size() == 4);
    const std::string coloured = status_word(status, {.colour = true});
    CHECK(coloured.starts_with("\x1b["));
    CHECK(coloured.ends_with(word + "\x1b[0m"));
  }
}

TEST_CASE("number_cell: four significant digits, a dash for no value, no negative zero") {
  CHECK(number_cell(12.0441) == "12.04");
  CHECK(number_cell(-0.0311234) == "-0.03112");
  CHECK(number_cell(-3.402823e38) == "-3.403e+38");
  CHECK(number_cell(std::nan("")) == "-");
  CHECK(number_cell(INFINITY) == "inf");
  CHECK(number_cell(-0.0) == "0");
}
