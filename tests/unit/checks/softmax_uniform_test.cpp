// softmax.uniform
#include <catch2/catch.hpp>
#include <cmath>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

TEMPLATE_TEST_CASE("softmax.uniform: weights that differ pass, with their departure", "", float,
                   double) {
  const CheckResult result = small_case<TestType>().run("softmax.uniform");
  CHECK(result.status == Status::pass);
  // 3 * 0.546549 - 1, and 1 - 3 * 0.121952 = 0.634144 is less
  CHECK(std::abs(*result.value - 0.639647) < 3e-6);
  CHECK(result.at == Index{1, 1});
}

TEST_CASE("softmax.uniform: q of zeros makes 0.25 each, and is named") {
  auto made = weights_case<float>(3, 4, std::vector<double>(12, 0.25));
  made.evidence.q = Tensor<float, 4>::make({1, 1, 3, 2});
  const CheckResult result = made.run("softmax.uniform");
  CHECK(result.status == Status::warn);
  CHECK(contains(result.message, "uniform"));
  CHECK(contains(result.hint, "q is all zero"));
}

TEST_CASE("softmax.uniform: identical keys are named") {
  auto made = weights_case<float>(1, 3, std::vector<double>(3, 1.0 / 3));
  made.evidence.q = tensor<float, 4>({1, 1, 1, 2}, {1, 2});
  made.evidence.k = tensor<float, 4>({1, 1, 3, 2}, {4, 5, 4, 5, 4, 5});
  CHECK(contains(made.run("softmax.uniform").hint, "all keys are the same"));
}

TEST_CASE("softmax.uniform: equal means equal among the keys that are seen") {
  auto made = weights_case<float>(3, 3, {1, 0, 0, 0.5, 0.5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3});
  made.visibility.causal = true;
  CHECK(made.run("softmax.uniform").status == Status::warn);
  made.evidence.attn(0, 0, 1, 0) = 0.6f;
  CHECK(made.run("softmax.uniform").status == Status::pass);
}

TEST_CASE("softmax.uniform: one key, or one for each query, is a skip") {
  CHECK(weights_case<float>(2, 1, {1, 1}).run("softmax.uniform").status == Status::skip);
}
