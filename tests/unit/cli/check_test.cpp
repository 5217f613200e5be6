// qkv check on right weights and on values, and its report.
#include <algorithm>
#include <catch2/catch.hpp>

#include "support/check_run.hpp"

using namespace qkv;
using namespace qkv::test;

TEST_CASE("check: right weights pass, with their scores and without") {
  CHECK(CheckRun().give("attn", {2, 3}, attn_1).run() == 0);
  CheckRun with_scores;
  CHECK(with_scores.give("attn", {2, 3}, attn_1).give("scaled", {2, 3}, scaled_1).run() == 0);
  CHECK(with_scores.passed("softmax.recompute"));
}

TEST_CASE("check: queries of zeros are why all weights are equal (R102)") {
  CheckRun check;
  CHECK(check.give("attn", {2, 4}, std::vector<double>(8, 0.25))
            .give("q", {2, 3}, std::vector<double>(6, 0))
            .run() == 0);
  CHECK(check.warned("softmax.uniform"));
  CHECK(check.says("softmax.uniform", "q is all zero"));
}

TEST_CASE("check: values bound what weights can make of them, head by head") {
  CheckRun right, wrong;
  CHECK(right.give("v", {3, 2}, {1, 0, 0, 1, 2, 2})
            .give("out", {2, 2}, {1.199285, 1.320157, 0.575402, 0.790453})
            .run() == 0);
  CHECK(right.passed("stage.magnitude"));
  CHECK(wrong.give("v", {1, 2, 3, 1}, {1, 2, 3, 10, 20, 30})
            .give("heads-out", {1, 2, 1, 1}, {1.5, 31})
            .run() == 1);
  CHECK(wrong.failed() == Words{"stage.magnitude"});
}

TEST_CASE("check: the report has the keys of a trace") {
  CheckRun check;
  REQUIRE(check.give("attn", {2, 3}, attn_1).say({"--d-k", "4"}).run() == 0);
  const Json& document = check.document();
  CHECK(document.find("schema")->text() == "qkv.check/1");
  CHECK(document.find("status")->text() == "pass");
  CHECK(document.find("checks")->items().size() == 21);
  const Json& stage = document.find("stages")->items().at(0);
  CHECK(stage.find("name")->text() == "attn");
  CHECK(stage.find("dtype")->text() == "float64");
  CHECK(stage.find("dims")->items().at(1).text() == "S");
  CHECK(document.find("config")->find("D")->number() == 4);
  CHECK(document.find("config")->find("rounding")->number() == 1e-5);
}

TEST_CASE("check: half-precision weights of thousands of keys are judged by their own rounding") {
  // 2^-12 is a float16, and the next one is a 1024th more: 400 of 4096 keys are off by that step.
  std::vector<double> attn(4096, 0x1p-12);
  std::fill_n(attn.begin(), 400, 0x1.004p-12);
  CheckRun half, finer;
  CHECK(half.rounded_by_type().give("attn", {1, 4096}, attn, DType::float16).run() == 0);
  CHECK(finer.rounded_by_type().give("attn", {1, 4096}, attn).run() == 1);
}
