// softmax.recompute
#include <catch2/catch.hpp>
#include <cmath>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

TEMPLATE_TEST_CASE("softmax.recompute: NumPy's weights are the softmax of masked", "", float,
                   double) {
  const CheckResult result = rich_case<TestType>().run("softmax.recompute");
  CHECK(result.status == Status::pass);
  CHECK(*result.value <= *result.limit);
  CHECK(contains(result.message, "softmax(masked)"));
}

TEST_CASE("softmax.recompute: starts from the last stage that is there") {
  auto right = rich_case<double>();
  right.evidence.masked = {};
  CHECK(contains(right.run("softmax.recompute").message, "softmax(scaled with the mask)"));
  right.evidence.scaled = {};
  const CheckResult result = right.run("softmax.recompute");
  CHECK(result.status == Status::pass);
  CHECK(contains(result.message, "softmax(scores*0.5774 with the mask)"));  // 1/sqrt(3)
  right.evidence.sizes.D = 0;
  CHECK(right.run("softmax.recompute").status == Status::skip);
  right.evidence.scores = {};
  CHECK(right.run("softmax.recompute").status == Status::skip);
}

TEST_CASE("softmax.recompute: a softmax taken twice fails where it departs most") {
  auto wrong = small_case<double>();
  wrong.evidence.attn =
      tensor<double, 4>({1, 1, 2, 3}, {0.28524, 0.321887, 0.392873, 0.327775, 0.406416, 0.265809});
  const CheckResult result = wrong.run("softmax.recompute");
  CHECK(result.status == Status::fail);
  CHECK(result.at == Index{1, 2});  // 0.265809 for 0.121952, the greatest in proportion
  CHECK(std::abs(*result.value - (0.265809 - 0.121952)) < 2e-6);
  CHECK(*result.limit < 1e-14);
  CHECK(contains(result.message, "(6 of 6 weights)"));
}

TEST_CASE("softmax.recompute: overflowed exp is found though the scores are right") {
  auto wrong = weights_case<float>(1, 5, {0, 0, 0, not_a_number, 0});
  wrong.evidence.scaled = tensor<float, 4>({1, 1, 1, 5}, {-250, -424, -460, 378, -292});
  const CheckResult result = wrong.run("softmax.recompute");
  CHECK(result.status == Status::fail);
  CHECK(result.at == Index{0, 3});
  CHECK(contains(result.message, "gives 1 "));
  wrong.evidence.attn = tensor<float, 4>({1, 1, 1, 5}, {0, 0, 0, 1, 0});
  CHECK(wrong.run("softmax.recompute").status == Status::pass);
}

TEST_CASE("softmax.recompute: very negative scores still have a softmax") {
  auto wrong = weights_case<float>(1, 2, {0, 0});
  wrong.evidence.scaled = tensor<float, 4>({1, 1, 1, 2}, {-20000, -20001});
  CHECK(wrong.run("softmax.recompute").status == Status::fail);
  wrong.evidence.attn = tensor<float, 4>({1, 1, 1, 2}, {0.7310585786, 0.2689414214});
  CHECK(wrong.run("softmax.recompute").status == Status::pass);
}

TEST_CASE("softmax.recompute: a float32 softmax rounded to half precision passes") {
  // softmax of 1, 2, 3 to the nearest float16
  auto right = weights_case<float>(1, 3, {0.0900269, 0.244751, 0.665039});
  right.evidence.scaled = tensor<float, 4>({1, 1, 1, 3}, {1, 2, 3});
  right.evidence.eps = 0x1p-10;
  CHECK(right.run("softmax.recompute").status == Status::pass);
  right.evidence.eps = 0;
  CHECK(right.run("softmax.recompute").status == Status::fail);
}

TEST_CASE("softmax.recompute: a fill that is not below the scores takes all weight") {
  auto wrong = weights_case<float>(1, 3, {0, 0, 1});
  wrong.evidence.scaled = tensor<float, 4>({1, 1, 1, 3}, {-200000, -200001, 3});
  wrong.visibility.lengths = {2};
  CHECK(wrong.run("softmax.recompute").status == Status::fail);
  // It is what was asked for where the fill was asked for; mask.leak finds it then.
  wrong.visibility.fill = {.kind = Fill::Kind::number, .number = -100000};
  CHECK(wrong.run("softmax.recompute").status == Status::pass);
}

TEST_CASE("softmax.recompute: empty rows follow their policy") {
  const auto status = [](EmptyRows policy, double weight) {
    auto made = weights_case<float>(2, 2, {0.5, 0.5, weight, weight});
    made.evidence.masked = tensor<float, 4>({1, 1, 2, 2}, {1, 1, -infinity, -infinity});
    made.evidence.settings.empty_rows = policy;
    return made.run_alone("softmax.recompute").status;
  };
  CHECK(status(EmptyRows::zero, 0) == Status::pass);
  CHECK(status(EmptyRows::zero, 0.5) == Status::fail);
  CHECK(status(EmptyRows::uniform, 0.5) == Status::pass);
  CHECK(status(EmptyRows::nan, not_a_number) == Status::pass);
  CHECK(status(EmptyRows::nan, 0) == Status::fail);
  CHECK(status(EmptyRows::zero, not_a_number) == Status::fail);
}

TEST_CASE("softmax.recompute: rows of NaN scores are not judged, and said so") {
  auto made = weights_case<float>(2, 2, {0.5, 0.5, not_a_number, not_a_number});
  made.evidence.scaled = tensor<float, 4>({1, 1, 2, 2}, {1, 1, not_a_number, 1});
  const CheckResult result = made.run("softmax.recompute");
  CHECK(result.status == Status::pass);
  CHECK(contains(result.message, "1 rows of scaled hold NaN"));
}

TEST_CASE("softmax.recompute: the softcap is applied on the way from scaled") {
  // worked by hand: scores 1, 0, 1 scaled by 1/sqrt(2), cap 1
  auto right = weights_case<double>(1, 3, {});
  const double t = std::tanh(std::sqrt(0.5)), e = std::exp(t);
  right.evidence.attn =
      tensor<double, 4>({1, 1, 1, 3}, {e / (2 * e + 1), 1 / (2 * e + 1), e / (2 * e + 1)});
  right.evidence.scores = tensor<double, 4>({1, 1, 1, 3}, {1, 0, 1});
  right.evidence.sizes.D = 2;
  CHECK(right.run("softmax.recompute").status == Status::fail);
  right.evidence.settings.softcap = 1;
  CHECK(right.run("softmax.recompute").status == Status::pass);
}
