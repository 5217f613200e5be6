// mask.leak
#include <catch2/catch.hpp>
#include <cmath>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

TEMPLATE_TEST_CASE("mask.leak: right weights let nothing through", "", float, double) {
  const CheckResult result = rich_case<TestType>().run("mask.leak");
  CHECK(result.status == Status::pass);
  CHECK(*result.value == 0);
}

TEST_CASE("mask.leak: causal asked for and not applied, greatest future weight named") {
  auto wrong = weights_case<float>(
      3, 3,
      {0.445808, 0.108383, 0.445808, 0.178370, 0.733681, 0.087949, 0.283995, 0.575975, 0.140029});
  wrong.visibility.causal = true;
  const CheckResult result = wrong.run("mask.leak");
  CHECK(result.status == Status::fail);
  CHECK(std::abs(*result.value - 0.445808) < 1e-7);
  CHECK(*result.limit == 0);
  CHECK(result.at == Index{0, 2});
  CHECK(contains(result.message, "query 0 gives 0.4458 to key 2, which the causal rule hides"));
  CHECK(contains(result.message, "(3 of 3 hidden weights)"));
  CHECK(contains(result.hint, "not applied"));
}

TEST_CASE("mask.leak: names every rule that hides the key") {
  const auto message = [](auto prepare) {
    auto wrong = weights_case<float>(2, 3, {0.5, 0.3, 0.2, 0.4, 0.3, 0.3});
    prepare(wrong.visibility);
    return wrong.run("mask.leak").message;
  };
  CHECK(contains(message([](auto& visibility) { visibility.lengths = {2}; }),
                 "query 1 gives 0.3 to key 2, which the padding hides"));
  CHECK(
      contains(message([](auto& visibility) { visibility.window = Window{.left = 0, .right = 0}; }),
               "query 1 gives 0.4 to key 0, which the window hides"));
  CHECK(contains(message([](auto& visibility) {
                   visibility.causal = true;
                   visibility.added = tensor<float, 4>({1, 1, 1, 3}, {0, 0, -infinity});
                   visibility.padded = Tensor<std::uint8_t, 2>::make({1, 3});
                   visibility.padded(0, 2) = 1;
                 }),
                 "query 0 gives 0.3 to key 1, which the causal rule hides"));
  CHECK(contains(message([](auto& visibility) {
                   visibility.added = tensor<float, 4>({1, 1, 1, 3}, {-infinity, 0, 0});
                   visibility.padded = Tensor<std::uint8_t, 2>::make({1, 3});
                   visibility.padded(0, 0) = 1;
                 }),
                 "query 0 gives 0.5 to key 0, which the padding and the mask hide"));
}

TEST_CASE("mask.leak: a fill that is not low enough leaks, a low one does not") {
  auto made = weights_case<float>(1, 3, {0.5, 0.49, 0.01});
  made.visibility.lengths = {2};
  made.visibility.fill = {.kind = Fill::Kind::number, .number = -4};
  const CheckResult result = made.run("mask.leak");
  CHECK(result.status == Status::fail);
  CHECK(*result.limit == 0x1p-23);
  CHECK(contains(result.hint, "fill"));
  made.evidence.attn = tensor<float, 4>({1, 1, 1, 3}, {0.5, 0.5, 1e-8});
  CHECK(made.run("mask.leak").status == Status::pass);
}

TEST_CASE("mask.leak: NaN behind the mask fails") {
  auto wrong = rich_case<double>();
  wrong.evidence.attn(0, 1, 2, 5) = not_a_number;
  CHECK(wrong.run("mask.leak").status == Status::fail);
}
