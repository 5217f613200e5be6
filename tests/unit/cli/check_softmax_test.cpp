// qkv check on softmaxes that people published as wrong: over another axis, twice, unstable.
#include <catch2/catch.hpp>
#include <cmath>

#include "support/check_run.hpp"

using namespace qkv;
using namespace qkv::test;

TEST_CASE("check: a softmax over a batch of 1 gives ones (R001)") {
  CheckRun check;
  CHECK(check.give("attn", {1, 2}, {1, 1}).give("scaled", {1, 2}, {0.3, 2.1}).run() == 1);
  CHECK(check.failed("softmax.row_sum"));
  CHECK(check.failed("softmax.axis"));
  CHECK(check.says("softmax.axis", "axis 0"));
}

TEST_CASE("check: a softmax over the queries is named by its axis (R002, R005, R006)") {
  CheckRun two;
  CHECK(two.give("attn", {3, 3},
                 {0.575975, 0.108383, 0.733681, 0.140029, 0.445808, 0.087949, 0.283995, 0.445808,
                  0.17837})
            .run() == 1);
  CHECK(two.says("softmax.axis", "the query axis (axis 0)"));

  // Scores are symmetric, and the two softmaxes each other's transpose: sums tell them apart.
  CheckRun rows, columns;
  CHECK(rows.give("attn", {2, 2}, {0.731059, 0.268941, 0.731059, 0.268941}).run() == 0);
  CHECK(columns.give("attn", {2, 2}, {0.731059, 0.731059, 0.268941, 0.268941}).run() == 1);
  CHECK(columns.says("softmax.axis", "the query axis (axis 0)"));

  CheckRun causal;
  CHECK(causal.give("attn", {3, 3}, {0.575975, 0, 0, 0.140029, 0.5, 0, 0.283995, 0.5, 1})
            .say({"--causal"})
            .run() == 1);
  CHECK(causal.says("softmax.axis", "the query axis (axis 0)"));
}

TEST_CASE("check: a softmax over the first of three axes is named (R003)") {
  CheckRun check;
  CHECK(check.give("attn", {2, 1, 2}, {0.119203, 0.731059, 0.880797, 0.268941}).run() == 1);
  CHECK(check.says("softmax.axis", "the batch axis (axis 0)"));
}

TEST_CASE("check: weights of 1 for one key are no fault, for three keys they do not fit (R004)") {
  CheckRun one_key, three_keys;
  CHECK(one_key.give("attn", {3, 1}, {1, 1, 1}).give("k", {1, 2}, {1, 2}).run() == 0);
  CHECK_FALSE(one_key.failed("softmax.axis"));
  CHECK(three_keys.give("attn", {3, 1}, {1, 1, 1}).give("k", {3, 2}, {1, 2, 3, 4, 5, 6}).run() ==
        2);
  CHECK(three_keys.error().find("S differs") != std::string::npos);
}

TEST_CASE("check: a second softmax shows beside the scores (R007)") {
  CheckRun check;
  CHECK(check.give("attn", {2, 3}, {0.28524, 0.321887, 0.392873, 0.327775, 0.406416, 0.265809})
            .give("scaled", {2, 3}, scaled_1)
            .run() == 1);
  CHECK(check.failed() == Words{"softmax.recompute"});
}

TEST_CASE("check: exp without the row maximum, or with a floor on it (R008, R009)") {
  CheckRun unstable, floored;
  CHECK(unstable.give("attn", {1, 5}, {0, 0, 0, std::nan(""), 0})
            .give("scaled", {1, 5}, {-250, -424, -460, 378, -292})
            .run() == 1);
  CHECK(unstable.failed("stage.finite"));
  CHECK(unstable.failed("softmax.recompute"));
  CHECK(floored.give("attn", {1, 2}, {0, 0}).give("scaled", {1, 2}, {-20000, -20001}).run() == 1);
  CHECK(floored.failed("softmax.row_sum"));
  CHECK(floored.failed("softmax.recompute"));
}
