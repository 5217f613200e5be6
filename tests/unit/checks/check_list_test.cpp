// The list of checks as a whole: complete, in order, silent on right tensors, calm about gaps.
#include <catch2/catch.hpp>
#include <set>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

TEST_CASE("check list: has every check, by step") {
  std::vector<std::string> ids;
  int step = 2;
  for (const Check& check : check_list()) {
    ids.emplace_back(check.id);
    CHECK(check.step >= step);
    CHECK_FALSE(check.holds.empty());
    step = check.step;
  }
  CHECK(ids == std::vector<std::string>{
                   "input.finite",      "input.dtype",   "input.range",         "mask.dtype",
                   "mask.polarity",     "mask.shape",    "weights.shared",      "stage.finite",
                   "stage.magnitude",   "softmax.range", "softmax.row_sum",     "softmax.axis",
                   "softmax.recompute", "softmax.rank",  "softmax.saturation",  "softmax.uniform",
                   "mask.hidden_zero",  "mask.leak",     "mask.before_softmax", "mask.empty_rows",
                   "resource.memory"});
}

TEMPLATE_TEST_CASE("check list: right tensors pass every check that can be made", "", float,
                   double) {
  auto right = rich_case<TestType>();
  right.evidence.visibility = &right.visibility;
  right.evidence.stage_bytes = 1000;
  right.evidence.memory_limit = 2000;
  std::set<std::string> passed;
  for (const CheckResult& result : run_checks(right.evidence)) {
    INFO(result.id << ": " << result.message);
    CHECK((result.status == Status::pass || result.status == Status::skip));
    CHECK_FALSE(result.message.empty());
    CHECK(result.hint.empty());
    if (result.status == Status::pass) passed.insert(result.id);
  }
  // The others need input files, or D + 2 keys that all of D + 1 queries see.
  CHECK(passed == std::set<std::string>{"stage.finite", "stage.magnitude", "softmax.range",
                                        "softmax.row_sum", "softmax.axis", "softmax.recompute",
                                        "softmax.saturation", "softmax.uniform", "mask.hidden_zero",
                                        "mask.leak", "mask.before_softmax", "mask.empty_rows",
                                        "resource.memory"});
}

TEMPLATE_TEST_CASE("check list: with no evidence every check is a skip that says what it needs", "",
                   float, double) {
  for (const CheckResult& result : run_checks(Evidence<TestType>())) {
    INFO(result.id);
    CHECK(result.status == Status::skip);
    CHECK_FALSE(result.message.empty());
    CHECK_FALSE(result.stage.empty());
  }
}

TEST_CASE("check list: zero-size tensors are skips, not crashes") {
  for (const auto& [L, S] : std::vector<std::pair<std::size_t, std::size_t>>{{0, 3}, {2, 0}}) {
    Case<float> none;
    none.size(1, 1, 1, L, S, 4, 2);
    none.visibility.causal = true;
    none.evidence.visibility = &none.visibility;
    none.evidence.inputs = &none.inputs;
    none.evidence.attn = Tensor<float, 4>::make({1, 1, L, S});
    none.evidence.scaled = none.evidence.scores = none.evidence.masked = none.evidence.attn;
    none.evidence.v = Tensor<float, 4>::make({1, 1, S, 2});
    none.evidence.heads = Tensor<float, 4>::make({1, 1, L, 2});
    for (const CheckResult& result : run_checks(none.evidence)) {
      INFO(result.id << ": " << result.message);
      CHECK(result.status != Status::fail);
      CHECK(result.status != Status::warn);
    }
  }
}

TEST_CASE("check list: one query and one key are judged by nothing in the softmax") {
  auto one = weights_case<float>(1, 1, {1});
  one.evidence.scaled = tensor<float, 4>({1, 1, 1, 1}, {0.3});
  for (const CheckResult& result : run_checks(one.evidence)) {
    INFO(result.id << ": " << result.message);
    if (result.step == 4) CHECK(result.status == Status::skip);
  }
}
