// stats_text(), stats_json(): a row per tensor and its histogram.
#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"

using namespace qkv;

namespace {

std::vector<StatsRow> sample() {
  const double nan = std::nan("");
  return {
      {.name = "x.npy",
       .shape = {2, 4, 8},
       .dtype = DType::float32,
       .order = "C",
       .stats = {.count = 64, .finite = 64, .min = -2, .max = 2, .mean = 0.5, .std = 1},
       .histogram = {1, 0, 40, 23}},
      {.name = "größe.npy",
       .shape = {3},
       .dtype = DType::float16,
       .order = ">F",
       .stats =
           {.count = 3, .min = nan, .max = nan, .mean = nan, .std = nan, .nan = 2, .neg_inf = 1},
       .histogram = {0, 0, 0, 0}}};
}

}  // namespace

TEST_CASE("stats_text: a row per tensor, then bars whose longest is 40") {
  std::string forty, twenty_three;
  for (int n = 0; n < 40; ++n) forty += "█";
  for (int n = 0; n < 23; ++n) twenty_three += "█";
  CHECK(stats_text(sample(), {}) ==
        "tensor       shape  dtype    order  min  max  mean  std  NaN  +Inf  -Inf   size\n"
        "x.npy      (2,4,8)  float32  C       -2    2   0.5    1    0     0     0  256 B\n"
        "größe.npy      (3)  float16  >F       -    -     -    -    2     0     1    6 B\n"
        "\n"
        "x.npy\n"
        "  -2  to  -1   1  █\n"
        "  -1  to   0   0\n"
        "   0  to   1  40  " +
            forty + "\n" + "   1  to   2  23  " + twenty_three + "\n" +
            "\n"
            "größe.npy\n"
            "  no finite value\n");
}

TEST_CASE("stats_text: without Unicode every byte is ASCII") {
  for (const char byte : stats_text(sample(), {.unicode = false}))
    CHECK(static_cast<unsigned char>(byte) < 0x80);
}

TEST_CASE("stats_text: control bytes in a name cannot reach the terminal") {
  auto rows = sample();
  rows[0].name = "a\x1b[2J\n.npy";
  const std::string text = stats_text(rows, {});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("a\\x1b[2J\\x0a.npy") != std::string::npos);
}

TEST_CASE("stats_json: schema qkv.stats/1, null where no value is finite, bins with their edges") {
  const Json document = Json::parse(stats_json(sample()), "stats");
  CHECK(document.find("schema")->text() == "qkv.stats/1");
  const auto& tensors = document.find("tensors")->items();
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].find("name")->text() == "x.npy");
  CHECK(tensors[0].find("order")->text() == "C");
  CHECK(tensors[0].find("bytes")->number() == 256);
  CHECK(tensors[0].find("mean")->number() == 0.5);
  const Json& histogram = *tensors[0].find("histogram");
  REQUIRE(histogram.find("edges")->items().size() == 5);
  CHECK(histogram.find("edges")->items()[1].number() == -1);
  CHECK(histogram.find("counts")->items()[2].number() == 40);
  CHECK(tensors[1].find("min")->kind() == Json::Kind::null);
  CHECK(tensors[1].find("nan")->number() == 2);
  CHECK(tensors[1].find("neg_inf")->number() == 1);
}

TEST_CASE("stats_json: no histogram unless one was counted") {
  auto rows = sample();
  rows[0].histogram.clear();
  const Json document = Json::parse(stats_json(rows), "stats");
  CHECK(document.find("tensors")->items()[0].find("histogram") == nullptr);
}
