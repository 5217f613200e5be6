// heat_text(): the terminal's heat map, in characters, in 256 colours and in 24 bits.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <sstream>

#include "qkv/base/text.hpp"
#include "qkv/report/heat.hpp"
#include "report/text_width.hpp"
#include "support/arrays.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const double inf = std::numeric_limits<double>::infinity();

std::string drawn(const Shape& shape, const std::vector<double>& numbers, const Terminal& terminal,
                  const HeatLabels& labels = {}) {
  const Matrices from = matrices_of(array_of(shape, numbers).array, "t.npy");
  const TerminalLayout layout = terminal_layout(from, labels, terminal);
  return heat_text(heat_map(from, layout.limits, {}, labels), layout, terminal);
}

std::string without_escapes(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = text.find('m', at);
    } else {
      plain += text[at];
    }
  }
  return plain;
}

std::vector<double> ramp(std::size_t count) {
  std::vector<double> numbers;
  for (std::size_t n = 0; n < count; ++n) numbers.push_back(static_cast<double>(n));
  return numbers;
}

}  // namespace

TEST_CASE("heat text: a small matrix shows its numbers beside the characters") {
  CHECK(drawn({2, 2}, {1, 0.25, -inf, std::nan("")}, {}) ==
        "t.npy  (2,2)  float64\n"
        "\n"
        "     0       1\n"
        "0    1 @@ 0.25 ==\n"
        "1    -     nan ??\n"
        "\n"
        "0 ..::==++**##%%@@ 1   blank hidden (-inf): 1   ?? NaN: 1\n"
        "min 0.25  max 1\n");
}

TEST_CASE("heat text: characters get denser in eight equal steps, with a sign below zero") {
  // 0 to 7 of 8 fall on the eight characters in turn; the greatest stays on the last.
  std::vector<double> numbers = ramp(9);
  numbers.resize(20, 8.0);
  CHECK(drawn({1, 20}, numbers, {.width = 60})
            .find("\n0 ..::==++**##%%@@@@@@@@@@@@@@@@@@@@@@@@@@\n") != std::string::npos);
  std::vector<double> negative(20, 0.0);
  negative[0] = -8;
  negative[1] = 8;
  negative[2] = -4;
  CHECK(drawn({1, 20}, negative, {.width = 60}).find("\n0 -@ @-* . . .") != std::string::npos);
}

TEST_CASE("heat text: labels stand over their columns, wide letters and marks included") {
  const HeatLabels labels{.rows = {"e\u0301te\u0301", "注意", "c"},
                          .columns = {"注意", "b", "e\u0301"}};
  const std::string text = drawn({2, 3, 3}, std::vector<double>(18, 1.0), {.width = 24}, labels);
  CHECK(text.find("     [0]     [1]\n"
                  "     注      注\n"
                  "     意b e\u0301   意b e\u0301\n"
                  " e\u0301te\u0301 @@@@@@  @@@@@@\n"
                  "注意 @@@@@@  @@@@@@\n"
                  "   c @@@@@@  @@@@@@\n") != std::string::npos);
}

TEST_CASE("heat text: 24-bit colours are those of the map, hidden cells another") {
  const std::vector<double> numbers = [] {
    std::vector<double> some(40, 1.0);
    some[0] = 0;
    some[2] = -inf;
    return some;
  }();
  const std::string text = drawn({1, 40}, numbers, {.depth = ColourDepth::truecolour, .width = 84});
  // #1c0e40 at 0, #f3f287 at the greatest; ink that can be read on them.
  CHECK(text.find("\x1b[48;2;28;14;64m  ") != std::string::npos);
  CHECK(text.find("\x1b[48;2;243;242;135m  ") != std::string::npos);
  CHECK(text.find("\x1b[48;2;128;128;128m//") != std::string::npos);
  CHECK(text.find("\x1b[0m\n") != std::string::npos);
}

TEST_CASE("heat text: half cells put two rows on a line, the last line may have one") {
  const std::string text =
      drawn({3, 40}, std::vector<double>(120, 1.0), {.depth = ColourDepth::ansi256, .width = 60});
  // #f3f287 is nearest to the cube's (5,5,2), #ffff87: 16 + 36*5 + 6*5 + 2.
  std::string halves;
  for (int n = 0; n < 40; ++n) halves += "▀";
  CHECK(text.find("\n0 \x1b[38;5;228m\x1b[48;5;228m" + halves + "\x1b[0m\n") != std::string::npos);
  CHECK(text.find("\n2 \x1b[38;5;228m" + halves + "\x1b[0m\n") != std::string::npos);
}

TEST_CASE("heat text: whatever the size, no line is wider than the terminal") {
  for (const ColourDepth depth : {ColourDepth::plain, ColourDepth::truecolour}) {
    for (const std::size_t width : {20U, 33U, 80U}) {
      for (const Shape& shape : {Shape{1, 1},
                                 {3, 5},
                                 {40, 7},
                                 {7, 300},
                                 {300, 7},
                                 {12, 9, 9},
                                 {12, 31, 33},
                                 {2, 5, 64, 64},
                                 {1, 1, 1, 200}}) {
        const Terminal terminal{.depth = depth, .width = width};
        std::istringstream text(
            without_escapes(drawn(shape, ramp(element_count(shape)), terminal)));
        std::size_t n = 0;
        for (std::string line; std::getline(text, line); ++n) {
          INFO(shape_text(shape) << " in " << width << ": " << line);
          // The title and the last lines, which are words, may be longer.
          const bool words = n == 0 || line.find("  max ") != std::string::npos ||
                             line.find("@@ ") != std::string::npos || line.starts_with("0  ");
          if (!words) CHECK(display_width(line) <= width);
        }
      }
    }
  }
}

TEST_CASE("heat text: a matrix that is too wide is averaged and says so") {
  const std::string text = drawn({4, 300}, ramp(1200), {.width = 40});
  CHECK(text.find("a cell is the mean of 1 by 16 elements") != std::string::npos);
}
