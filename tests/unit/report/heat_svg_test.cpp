// heat_svg(): parsed back; a well-formed document whose <rect>s are the cells.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>

#include "qkv/report/heat.hpp"
#include "report/markup.hpp"
#include "support/arrays.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const double inf = std::numeric_limits<double>::infinity();

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;                 ///< as it stands in the file
  std::vector<std::string> inside;  ///< classes of the elements around it
};

/// Reads elements, attributes in double quotes and text; anything else is not well-formed here.
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {
    while (at_ < text_.size()) {
      if (text_[at_] == '<') {
        tag();
      } else {
        const std::size_t end = std::min(text_.find('<', at_), text_.size());
        if (!open_.empty()) elements[open_.back()].text += text_.substr(at_, end - at_);
        at_ = end;
      }
    }
    REQUIRE(open_.empty());
  }

  std::vector<Element> elements;

  std::vector<Element> named(const std::string& name, const std::string& within) const {
    std::vector<Element> found;
    for (const Element& element : elements) {
      if (element.name == name && std::ranges::count(element.inside, within) > 0)
        found.push_back(element);
    }
    return found;
  }

 private:
  void tag() {
    const std::size_t end = text_.find('>', at_);
    REQUIRE(end != std::string::npos);
    std::string inner = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    if (inner.starts_with('/')) {
      REQUIRE_FALSE(open_.empty());
      REQUIRE(elements[open_.back()].name == inner.substr(1));
      open_.pop_back();
      return;
    }
    const bool closed = inner.ends_with('/');
    if (closed) inner.pop_back();
    Element element;
    for (const std::size_t outer : open_) {
      const auto found = elements[outer].attributes.find("class");
      if (found != elements[outer].attributes.end()) element.inside.push_back(found->second);
    }
    element.name = inner.substr(0, inner.find(' '));
    for (std::size_t at = inner.find(' '); at != std::string::npos; at = inner.find(' ', at)) {
      const std::size_t equals = inner.find("=\"", at);
      REQUIRE(equals != std::string::npos);
      const std::size_t quote = inner.find('"', equals + 2);
      REQUIRE(quote != std::string::npos);
      element.attributes[inner.substr(at + 1, equals - at - 1)] =
          inner.substr(equals + 2, quote - equals - 2);
      at = quote;
    }
    elements.push_back(element);
    if (!closed) open_.push_back(elements.size() - 1);
  }

  std::string text_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_;
};

Parser drawn(const Shape& shape, const std::vector<double>& numbers, const HeatLabels& labels = {},
             const std::string& name = "t.npy") {
  const Matrices matrices = matrices_of(array_of(shape, numbers).array, name);
  return Parser(heat_svg(heat_map(matrices, svg_limits(matrices), {}, labels)));
}

bool says(const Parser& svg, const std::string& within, const std::string& text) {
  return std::ranges::any_of(svg.elements, [&](const Element& element) {
    return std::ranges::count(element.inside, within) > 0 && element.text == text;
  });
}

}  // namespace

TEST_CASE("heat svg: a rect a cell, in its place and with its colour") {
  const Parser svg = drawn({2, 3}, {-8, 0, 8, -inf, std::nan(""), inf});
  const auto cells = svg.named("rect", "cells");
  REQUIRE(cells.size() == 6);
  const char* wanted[] = {"#0c54a0", "#f3f3f3", "", "url(#hidden)", "#ff00c8", "#00ff3c"};
  for (std::size_t n = 0; n < 6; ++n) {
    CHECK(cells[n].attributes.at("x") == std::to_string(n % 3));
    CHECK(cells[n].attributes.at("y") == std::to_string(n / 3));
    if (n != 2) CHECK(cells[n].attributes.at("fill") == wanted[n]);
  }
  const auto hints = svg.named("title", "cells");
  REQUIRE(hints.size() == 6);
  CHECK(hints[0].text == "0, 0: -8");
  CHECK(hints[3].text == "1, 0: hidden");
  CHECK(hints[4].text == "1, 1: NaN");
}

TEST_CASE("heat svg: a scale bar with its ends, its zero and what is outside it") {
  const Parser svg = drawn({2, 3}, {-8, 0, 2, -inf, std::nan(""), inf});
  CHECK(says(svg, "legend", "-8"));
  CHECK(says(svg, "legend", "0"));
  CHECK(says(svg, "legend", "8"));
  CHECK(says(svg, "legend", "hidden (-inf): 1"));
  CHECK(says(svg, "legend", "NaN: 1"));
  CHECK(says(svg, "legend", "+Inf: 1"));
  CHECK(says(svg, "legend", "min -8  max 2"));
  const Parser weights = drawn({1, 2}, {0.25, 0.5});
  CHECK(says(weights, "legend", "0"));
  CHECK(says(weights, "legend", "0.5"));
}

TEST_CASE("heat svg: labels and names are text, whatever they hold") {
  const std::string nasty = "</text><script>alert(\"1\")&'\x01\xff";
  const std::string safe = "&lt;/text&gt;&lt;script&gt;alert(&quot;1…";
  const Parser svg =
      drawn({2, 2, 1}, {1, 2, 3, 4}, {.rows = {nasty, "注意"}, .columns = {"c"}}, "<&>.npy");
  CHECK(svg.named("text", "panel").size() == 8);  // two titles, four rows, two columns
  CHECK(says(svg, "panel", safe));
  CHECK(says(svg, "panel", "注意"));
  CHECK(says(svg, "panel", "[1]"));
  CHECK(svg.elements[1].text == "&lt;&amp;&gt;.npy (2,2,1)");
  CHECK(svg.named("script", "panel").empty());
}

TEST_CASE("heat svg: a matrix of too many cells is averaged, and the picture says so") {
  const Parser svg = drawn({300, 300}, std::vector<double>(90000, 0.5));
  CHECK(svg.named("rect", "cells").size() == 150 * 150);
  CHECK(says(svg, "legend", "min 0.5  max 0.5; a cell is the mean of 2 by 2 elements"));
}

TEST_CASE("markup: no byte of a text is markup") {
  CHECK(markup("a<b>&\"c'") == "a&lt;b&gt;&amp;&quot;c&#39;");
  CHECK(markup("\x1b[0m\n\xff") == "\\x1b[0m\\x0a\\xff");
  CHECK(markup("注\xef\xbf\xbf!") == "注\xef\xbf\xbd!");
  CHECK(markup(std::string(1000, 'x')).size() == 1000);
  CHECK(script_json("{\"a\":\"</script><!--\"}") == "{\"a\":\"\\u003c/script>\\u003c!--\"}");
}
