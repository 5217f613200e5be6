// qkv check on masks, causal rules and windows that people published as wrong, or as right.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "support/check_run.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

// L = S = 3, D = 2.
const std::vector<double> causal_2 = {1, 0, 0, 0.19557, 0.80443, 0, 0.283995, 0.575975, 0.140029};

}  // namespace

TEST_CASE("check: a mask after the softmax leaves rows below 1 (R025)") {
  CheckRun check;
  CHECK(check.give("attn", {2, 3}, {0.186324, 0.307196, 0, 0.331499, 0.546549, 0})
            .give("mask", {1, 3}, {1, 1, 0}, DType::boolean)
            .run() == 1);
  CHECK(check.failed("mask.before_softmax"));
  CHECK(check.passed("mask.hidden_zero"));
  CHECK(check.says("mask.before_softmax", "before the softmax"));
  // Renormalised it is the same as masking before (R026).
  CHECK(CheckRun()
            .give("attn", {2, 3}, {0.377541, 0.622459, 0, 0.377541, 0.622459, 0})
            .give("mask", {1, 3}, {1, 1, 0}, DType::boolean)
            .run() == 0);
}

TEST_CASE("check: equal weights in a row that sees no key are a policy, named by its flag (R035)") {
  const std::vector<double> attn = {0.186324, 0.307196, 0.50648, 1.0 / 3, 1.0 / 3, 1.0 / 3};
  const std::vector<double> keep = {1, 1, 1, 0, 0, 0};
  CheckRun zero, uniform;
  CHECK(zero.give("attn", {2, 3}, attn).give("mask", {2, 3}, keep, DType::boolean).run() == 1);
  CHECK(zero.failed("softmax.row_sum"));
  CHECK(zero.says("mask.empty_rows", "[1]"));
  CHECK(uniform.give("attn", {2, 3}, attn)
            .give("mask", {2, 3}, keep, DType::boolean)
            .say({"--empty-rows", "uniform"})
            .run() == 0);
  CHECK(uniform.warned("mask.empty_rows"));
}

TEST_CASE("check: the zeros of attn decide the alignment of the causal rule (R039)") {
  const std::vector<double> start = {1, 0, 0, 0.377541, 0.622459, 0};
  const std::vector<double> end = {0.377541, 0.622459, 0, 0.331499, 0.546549, 0.121952};
  const auto with = [](const std::vector<double>& attn, const std::string& align) {
    return CheckRun().give("attn", {2, 3}, attn).say({"--causal", "--causal-align", align}).run();
  };
  CHECK(with(start, "start") == 0);
  CHECK(with(end, "end") == 0);
  CHECK(with(end, "start") == 1);
  // Hiding more than the rule asks for cannot be told from weights of 0 by attn alone.
  CheckRun more;
  CHECK(more.give("attn", {2, 3}, start)
            .give("scaled", {2, 3}, scaled_1)
            .say({"--causal", "--causal-align", "end"})
            .run() == 1);
}

TEST_CASE("check: more queries than keys, aligned to the end, leave rows empty (R040)") {
  CheckRun check;
  CHECK(check.give("attn", {5, 2}, {0, 0, 0, 0, 0, 0, 1, 0, 0.5, 0.5})
            .say({"--causal", "--causal-align", "end"})
            .run() == 0);
  CHECK(check.warned("mask.empty_rows"));
  CHECK(check.says("mask.empty_rows", "[0], [1] and [2]"));
}

TEST_CASE("check: fewer queries than keys, aligned to the end (R041)") {
  const double third = 1.0 / 3;
  const std::vector<double> attn = {third, third, third, 0,    0,  //
                                    0.25,  0.25,  0.25,  0.25, 0, 0.2, 0.2, 0.2, 0.2, 0.2};
  const auto with = [&](const std::string& align) {
    return CheckRun().give("attn", {3, 5}, attn).say({"--causal", "--causal-align", align}).run();
  };
  CHECK(with("end") == 0);
  CHECK(with("start") == 1);
}

TEST_CASE("check: with as many queries as keys both alignments hold (R042)") {
  for (const char* align : {"start", "end"}) {
    CHECK(CheckRun()
              .give("attn", {3, 3}, causal_2)
              .say({"--causal", "--causal-align", align})
              .run() == 0);
  }
}

TEST_CASE("check: a window of one key too many gets through (R043)") {
  const double third = 1.0 / 3;
  const std::vector<double> wide = {1,    0,     0,     0,     0,    0.5,  0.5,  0,    0,
                                    0,    third, third, third, 0,    0,    0.25, 0.25, 0.25,
                                    0.25, 0,     0,     0.25,  0.25, 0.25, 0.25};
  CheckRun three, four;
  CHECK(three.give("attn", {5, 5}, wide).say({"--causal", "--window", "2"}).run() == 1);
  CHECK(three.failed("mask.leak"));
  CHECK(three.says("mask.leak", "the window"));
  CHECK(four.give("attn", {5, 5}, wide).say({"--causal", "--window", "3"}).run() == 0);
}

TEST_CASE("check: a window that ends a key early shows beside the scores (R044)") {
  // Scores of 0, left 2: row i sees i-2 to i+1 where i-2 to i+2 was asked for.
  std::vector<double> attn(64, 0);
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t first = i < 2 ? 0 : i - 2, last = std::min<std::size_t>(i + 1, 7);
    for (std::size_t j = first; j <= last; ++j)
      attn[i * 8 + j] = 1.0 / static_cast<double>(last - first + 1);
  }
  const std::vector<double> scores(64, 0);
  const auto with = [&](const std::string& window) {
    return CheckRun()
        .give("attn", {8, 8}, attn)
        .give("scaled", {8, 8}, scores)
        .say({"--window", window})
        .run();
  };
  CHECK(with("2,1") == 0);
  CHECK(with("2,2") == 1);
}

TEST_CASE("check: keys of the future do not take part in the softmax (R101)") {
  // Scores 2, 1, 0, 0 with two valid keys.
  const auto with = [](const std::vector<double>& attn) {
    return CheckRun()
        .give("attn", {1, 4}, attn)
        .give("scaled", {1, 4}, {2, 1, 0, 0})
        .give("mask", {1, 4}, {1, 1, 0, 0}, DType::boolean)
        .run();
  };
  CHECK(with({0.731059, 0.268941, 0, 0}) == 0);
  CHECK(with({0.610296, 0.224515, 0.0825945, 0.0825945}) == 1);
}

TEST_CASE("check: what masked has at -inf is what is hidden") {
  CheckRun right, leaking;
  const std::vector<double> masked = {0.5, 1, -HUGE_VAL, 0.5, 1, -HUGE_VAL};
  CHECK(right.give("attn", {2, 3}, {0.377541, 0.622459, 0, 0.377541, 0.622459, 0})
            .give("masked", {2, 3}, masked)
            .run() == 0);
  CHECK(right.passed("mask.leak"));
  CHECK(leaking.give("attn", {2, 3}, attn_1).give("masked", {2, 3}, masked).run() == 1);
  CHECK(leaking.failed("mask.leak"));
}

TEST_CASE("check: the integers of a complemented mask are refused (R023)") {
  CheckRun check;
  CHECK(check.give("mask", {1, 3}, {-2, -1, -2}, DType::int64).run() == 2);
  CHECK(check.error().find("bitwise complement") != std::string::npos);
}
