// softmax.range
#include <catch2/catch.hpp>
#include <cmath>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

TEMPLATE_TEST_CASE("softmax.range: right weights pass with their greatest as the value", "", float,
                   double) {
  const CheckResult result = small_case<TestType>().run("softmax.range");
  CHECK(result.status == Status::pass);
  CHECK(std::abs(*result.value - 0.546549) < 1e-6);
  CHECK(result.at == Index{1, 1});
}

TEST_CASE("softmax.range: a negative weight fails, beneath a greater one") {
  const CheckResult result =
      weights_case<float>(2, 2, {0.25, 0.75, -0.25, 0.5}).run("softmax.range");
  CHECK(result.status == Status::fail);
  CHECK(*result.value == -0.25);
  CHECK(*result.limit == 0);
  CHECK(result.at == Index{1, 0});
  CHECK(contains(result.message, "(1 of 4 weights)"));
}

TEST_CASE("softmax.range: a weight above 1 fails") {
  auto wrong = rich_case<double>();
  wrong.evidence.attn(1, 3, 4, 5) = 1.25;
  const CheckResult result = wrong.run("softmax.range");
  CHECK(result.status == Status::fail);
  CHECK(*result.value == 1.25);
  CHECK(result.at == Index{1, 3, 4, 5});
}

TEST_CASE("softmax.range: one rounding above 1 passes") {
  auto right = weights_case<float>(1, 2, {1 + 0x1p-23, 0});
  CHECK(right.run("softmax.range").status == Status::pass);
}

TEST_CASE("softmax.range: NaN fails, but not in an empty row that is meant to be NaN") {
  auto made = weights_case<float>(2, 2, {not_a_number, not_a_number, 0.5, 0.5});
  CHECK(made.run("softmax.range").status == Status::fail);
  made.visibility.causal = true;
  made.visibility.offset = {-1};  // query 0 sees nothing, query 1 sees key 0
  made.evidence.settings.empty_rows = EmptyRows::nan;
  made.evidence.attn = tensor<float, 4>({1, 1, 2, 2}, {not_a_number, not_a_number, 1, 0});
  CHECK(made.run("softmax.range").status == Status::skip);  // one key for query 1
  made.evidence.attn(0, 0, 1, 0) = static_cast<float>(not_a_number);
  CHECK(made.run("softmax.range").status == Status::fail);
}
