// softmax.saturation and softmax.uniform
#include <catch2/catch.hpp>
#include <cmath>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

TEMPLATE_TEST_CASE("softmax.saturation: soft weights pass, with the share of saturated rows", "",
                   float, double) {
  const CheckResult result = rich_case<TestType>().run("softmax.saturation");
  CHECK(result.status == Status::pass);
  CHECK(*result.value == 0);
}

TEST_CASE("softmax.saturation: warns where nearly all rows have one key only") {
  std::vector<double> attn;
  for (int row = 0; row < 20; ++row) {
    attn.insert(attn.end(), row == 7 ? std::initializer_list<double>{0.5, 0.5, 0}
                                     : std::initializer_list<double>{0.995, 0.005, 0});
  }
  const CheckResult result = weights_case<float>(20, 3, attn).run("softmax.saturation");
  CHECK(result.status == Status::warn);
  CHECK(*result.value == 0.95);
  CHECK(*result.limit == 0.9);
  CHECK(contains(result.message, "19 of 20 rows"));
  // 17 of 20 is what a trained head may look like
  attn[0] = attn[3] = 0.6;
  CHECK(weights_case<float>(20, 3, attn).run("softmax.saturation").status == Status::pass);
}

TEST_CASE("softmax.saturation: rows that see one key are no sign of it") {
  auto causal = weights_case<float>(2, 2, {1, 0, 0.5, 0.5});
  causal.visibility.causal = true;
  const CheckResult result = causal.run("softmax.saturation");
  CHECK(result.status == Status::pass);
  CHECK(contains(result.message, "0 of 1 rows"));
  CHECK(weights_case<float>(2, 1, {1, 1}).run("softmax.saturation").status == Status::skip);
}

TEST_CASE("softmax.saturation: NaN is no weight of 1") {
  const CheckResult result =
      weights_case<float>(1, 2, {not_a_number, not_a_number}).run("softmax.saturation");
  CHECK(result.status == Status::pass);
}
