// Classify report: the order of the classes, text and JSON.
#include "qkv/report/classify_report.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace qkv;

TEST_CASE("by_probability: the most probable first, equal ones as they came, NaN last") {
  const auto classes =
      by_probability({"a", "b", "c", "d", "e"}, {0.1, std::nan(""), 0.4, 0.1, 0.4});
  std::string order;
  for (const ClassProbability& c : classes) order += c.label;
  CHECK(order == "ceadb");
}

TEST_CASE("classify_text: a title and a table for each text, wide letters as two columns") {
  ClassifyReport report{.batch = true,
                        .tokens = {{"你", "好"}, {"no"}},
                        .ids = {{0, 1}, {2}},
                        .classes = {{{"问候", 0.75}, {"x", 0.25}}, {{"x", 0.5}, {"问候", 0.5}}}};
  CHECK(classify_text(report, {}) ==
        "0  你 好\nclass     p\n问候   0.75\nx      0.25\n\n1  no\nclass    p\nx      0.5\n问候   "
        "0.5\n");
  report = {.batch = false, .classes = {{{"x", 1}}}};
  CHECK(classify_text(report, {}) == "class  p\nx      1\n");
}

TEST_CASE("classify_json: lists of lists for a batch, null for the tokens of X and for NaN") {
  const ClassifyReport of_x{.batch = false, .classes = {{{"x", std::nan("")}}}};
  CHECK(
      classify_json(of_x) ==
      "{\n  \"schema\": \"qkv.classify/1\",\n  \"tokens\": null,\n  \"ids\": null,\n  \"classes\": "
      "[\n    {\"label\": \"x\", \"p\": null}\n  ]\n}\n");
}
