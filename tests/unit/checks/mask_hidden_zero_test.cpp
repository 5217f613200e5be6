// mask.hidden_zero
#include <catch2/catch.hpp>
#include <cmath>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

TEMPLATE_TEST_CASE("mask.hidden_zero: passes where all hidden weights are exactly 0", "", float,
                   double) {
  const CheckResult result = rich_case<TestType>().run("mask.hidden_zero");
  CHECK(result.status == Status::pass);
  CHECK(*result.value == 0);
  CHECK(*result.limit == 0);
  // B*H times: causal hides 4 + 3 + 2 + 1 + 0, the padding one more in the last query of row 1
  CHECK(contains(result.message, "84 hidden weights"));
}

TEST_CASE("mask.hidden_zero: the smallest number above 0 fails") {
  auto wrong = rich_case<float>();
  wrong.evidence.attn(1, 2, 0, 4) = 1e-40f;
  const CheckResult result = wrong.run("mask.hidden_zero");
  CHECK(result.status == Status::fail);
  CHECK(*result.value > 0);
  CHECK(result.at == Index{1, 2, 0, 4});
  CHECK(contains(result.message, "the causal rule hides"));
  CHECK(contains(result.message, "(1 of 84 hidden weights)"));
}

TEST_CASE("mask.hidden_zero: NaN fails") {
  auto wrong = rich_case<float>();
  wrong.evidence.attn(1, 0, 4, 6) = static_cast<float>(not_a_number);
  const CheckResult result = wrong.run("mask.hidden_zero");
  CHECK(result.status == Status::fail);
  CHECK(std::isnan(*result.value));
  CHECK(contains(result.message, "the padding hides"));
}

TEST_CASE("mask.hidden_zero: a finite fill allows what it gives and no more") {
  // scores 0, 0 and a fill of -5: exp(-5) = 0.0067379 of 2.0067379
  auto made = weights_case<double>(1, 3, {});
  const double z = 2 + std::exp(-5.0);
  made.evidence.attn = tensor<double, 4>({1, 1, 1, 3}, {1 / z, 1 / z, std::exp(-5.0) / z});
  made.evidence.masked = tensor<double, 4>({1, 1, 1, 3}, {0, 0, -5});
  made.visibility.lengths = {2};
  CHECK(made.run("mask.hidden_zero").status == Status::fail);
  made.visibility.fill = {.kind = Fill::Kind::number, .number = -5};
  const CheckResult result = made.run("mask.hidden_zero");
  CHECK(result.status == Status::pass);
  CHECK(std::abs(*result.limit - std::exp(-5.0)) < 1e-12);
  made.evidence.attn(0, 0, 0, 2) = 0.01;
  CHECK(made.run("mask.hidden_zero").status == Status::fail);
  made.evidence.masked = {};
  CHECK(made.run("mask.hidden_zero").status == Status::skip);
}

TEST_CASE("mask.hidden_zero: a row that sees no key is judged elsewhere") {
  auto made = weights_case<float>(1, 2, {0.5, 0.5});
  made.visibility.lengths = {0};
  CHECK(made.run("mask.hidden_zero").status == Status::skip);
}

TEST_CASE("mask.hidden_zero: nothing hidden, or nothing known of it, is a skip") {
  CHECK(small_case<float>().run("mask.hidden_zero").status == Status::skip);
  CHECK(small_case<float>().run_alone("mask.hidden_zero").status == Status::skip);
  auto sees_all = small_case<float>();
  sees_all.visibility.causal = true;
  sees_all.visibility.offset = {2};
  CHECK(sees_all.run("mask.hidden_zero").status == Status::skip);
}
