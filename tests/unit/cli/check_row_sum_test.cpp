// qkv check on rows that sum to other than 1 for a reason: dropout and sinks.
#include <catch2/catch.hpp>

#include "support/check_run.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

// attn of the first input with a sink of logit 0.5, and its row sums 0.84294 and 0.751033.
const std::vector<double> sunk_1 = {0.15706, 0.258948, 0.426933, 0.248967, 0.410477, 0.09159};

}  // namespace

TEST_CASE("check: dropout left on makes rows sum to other than 1 (R094, R095)") {
  CheckRun rows, one_key;
  CHECK(rows.give("attn", {2, 3}, {0.207026, 0, 0.562756, 0.368332, 0.607277, 0.135502}).run() ==
        1);
  CHECK(rows.says("softmax.row_sum", "dropout"));
  CHECK(one_key.give("attn", {1, 1}, {1.25}).run() == 1);
  CHECK(one_key.failed("softmax.range"));
  CHECK(one_key.failed("softmax.row_sum"));
}

TEST_CASE("check: rows that sum to less than 1 may be those of a sink (R097)") {
  CheckRun check;
  CHECK(check.give("attn", {2, 3}, {0.15706, 0.258948, 0.426933, 0.248967, 0.410477, 0.09159})
            .run() == 1);
  CHECK(check.failed() == Words{"softmax.row_sum"});
  CHECK(check.says("softmax.row_sum", "a sink in the denominator"));
}

TEST_CASE("check: a sink leaves rows below 1, each by its own share (R097)") {
  CheckRun told, with_scores, wrong;
  CHECK(told.give("attn", {2, 3}, sunk_1).give("sinks", {1}, {0.5}).run() == 0);
  with_scores.give("attn", {2, 3}, sunk_1)
      .give("scaled", {2, 3}, scaled_1)
      .give("sinks", {1}, {0.5});
  CHECK(with_scores.run() == 0);
  CHECK(with_scores.passed("softmax.row_sum"));
  CHECK(with_scores.passed("softmax.recompute"));
  wrong.give("attn", {2, 3}, sunk_1).give("scaled", {2, 3}, scaled_1).give("sinks", {1}, {1.5});
  CHECK(wrong.run() == 1);
  CHECK(wrong.failed("softmax.row_sum"));
}

TEST_CASE("check: after dropout rows sum to 1 on average, and weights are those over 1 - p") {
  const std::vector<double> dropped = {0.207026, 0, 0.562756, 0.368332, 0.607277, 0.135502};
  CheckRun told, with_scores, other;
  CHECK(told.give("attn", {2, 3}, dropped).say({"--dropout", "0.1"}).run() == 0);
  with_scores.give("attn", {2, 3}, dropped).give("scaled", {2, 3}, scaled_1);
  CHECK(with_scores.say({"--dropout", "0.1"}).run() == 0);
  CHECK(with_scores.passed("softmax.recompute"));
  other.give("attn", {2, 3}, dropped).give("scaled", {2, 3}, scaled_1).say({"--dropout", "0.3"});
  CHECK(other.run() == 1);
  CHECK(other.failed("softmax.recompute"));
}
