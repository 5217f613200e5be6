// mask.before_softmax
#include <catch2/catch.hpp>
#include <cmath>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

TEMPLATE_TEST_CASE("mask.before_softmax: visible weights of right rows sum to 1", "", float,
                   double) {
  CHECK(rich_case<TestType>().run("mask.before_softmax").status == Status::pass);
}

TEST_CASE("mask.before_softmax: masked after the softmax, rows sum to less") {
  auto wrong = weights_case<float>(2, 3, {0.186324, 0.307196, 0, 0.331499, 0.546549, 0});
  wrong.visibility.lengths = {2};
  const CheckResult result = wrong.run("mask.before_softmax");
  CHECK(result.status == Status::fail);
  CHECK(std::abs(*result.value - 0.50648) < 1e-6);
  CHECK(result.at == Index{0});
  CHECK(contains(result.message, "sums to 0.4935 over what is visible"));
  CHECK(contains(result.hint, "mask the scores before the softmax"));
}

TEST_CASE("mask.before_softmax: masked after and divided by the rest is the same as before") {
  const double a = 1 / (1 + std::exp(0.5));
  auto right = weights_case<double>(2, 3, {a, 1 - a, 0, a, 1 - a, 0});
  right.visibility.lengths = {2};
  CHECK(right.run("mask.before_softmax").status == Status::pass);
}

TEST_CASE("mask.before_softmax: no mask at all leaves a share with the hidden keys") {
  auto wrong = weights_case<float>(1, 3, {0.186324, 0.307196, 0.50648});
  wrong.visibility.hidden_by_mask = Tensor<std::uint8_t, 4>::make({1, 1, 1, 3});
  wrong.visibility.hidden_by_mask(0, 0, 0, 1) = 1;
  const CheckResult result = wrong.run("mask.before_softmax");
  CHECK(result.status == Status::fail);
  CHECK(std::abs(*result.value - 0.307196) < 1e-6);
  CHECK(contains(result.hint, "mask.leak"));
}

TEST_CASE("mask.before_softmax: only rows with hidden keys are judged, and NaN fails") {
  auto made = weights_case<float>(2, 2, {1, 0, 0.2, 0.2});
  made.visibility.causal = true;
  CHECK(made.run("mask.before_softmax").status == Status::pass);  // row 1 hides nothing
  made.evidence.attn(0, 0, 0, 0) = static_cast<float>(not_a_number);
  CHECK(made.run("mask.before_softmax").status == Status::fail);
  CHECK(small_case<float>().run("mask.before_softmax").status == Status::skip);
}
