// stage.magnitude
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// Bell-shaped numbers of mean 0 and variance 1, the same on every machine.
std::vector<double> normals(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> numbers(count, -6.0);
  for (double& number : numbers) {
    for (int n = 0; n < 12; ++n) number += static_cast<double>(random()) / 0x1p32;
  }
  return numbers;
}

/// q, k of D = 16 and what is said to be scaled: q*k^T * factor. Scores are not there.
CheckResult spread(double factor, double size_of_q = 1) {
  constexpr std::size_t N = 32, D = 16;
  Case<double> made;
  made.size(1, 1, 1, N, N, D, 2);
  made.evidence.q = tensor<double, 4>({1, 1, N, D}, normals(N * D, 1));
  made.evidence.k = tensor<double, 4>({1, 1, N, D}, normals(N * D, 2));
  for (double& value : made.evidence.q.elements()) value *= size_of_q;
  made.evidence.scaled = Tensor<double, 4>::make({1, 1, N, N});
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j < N; ++j) {
      for (std::size_t d = 0; d < D; ++d) {
        made.evidence.scaled(0, 0, i, j) +=
            factor * made.evidence.q(0, 0, i, d) * made.evidence.k(0, 0, j, d);
      }
    }
  }
  return made.run("stage.magnitude");
}

}  // namespace

TEMPLATE_TEST_CASE("stage.magnitude: right stages pass", "", float, double) {
  const CheckResult result = rich_case<TestType>().run("stage.magnitude");
  CHECK(result.status == Status::pass);
  CHECK(contains(result.message, "scaled is scores*0.5774"));
  CHECK(contains(result.message, "heads lies within the range of v"));
}

TEST_CASE("stage.magnitude: scaled that is not scores*scale fails, and known slips are named") {
  const auto scaled_by = [](double factor) {
    auto wrong = small_case<double>();  // scores 1, 2, 3 and 1, 2, -1; the scale is 0.5
    for (std::size_t n = 0; n < 6; ++n) {
      wrong.evidence.scaled.data()[n] = factor * wrong.evidence.scores.data()[n];
    }
    return wrong.run("stage.magnitude");
  };
  CHECK(scaled_by(0.5).status == Status::pass);
  const CheckResult missing = scaled_by(1);
  CHECK(missing.status == Status::fail);
  CHECK(missing.stage == "scaled");
  CHECK(*missing.value == 1.5);
  CHECK(missing.at == Index{0, 2});
  CHECK(contains(missing.message, "scaled is 3, scores*0.5 gives 1.5"));
  CHECK(contains(missing.hint, "missing"));
  CHECK(contains(scaled_by(0.25).hint, "applied twice"));
  CHECK(contains(scaled_by(2).hint, "inverted"));
  CHECK(contains(scaled_by(0.3).hint, "fits best is 0.3"));
  CHECK(scaled_by(not_a_number).status == Status::fail);
}

TEST_CASE("stage.magnitude: a scale that was asked for is the right one") {
  auto made = small_case<double>();
  made.evidence.settings.scale = 1;
  CHECK(made.run("stage.magnitude").status == Status::fail);
  made.evidence.scaled = made.evidence.scores;
  CHECK(made.run("stage.magnitude").status == Status::pass);
  made.evidence.settings.scale.reset();
  made.evidence.settings.temperature = 1;
  CHECK(made.run("stage.magnitude").status == Status::pass);
}

TEST_CASE("stage.magnitude: scaling q and k by the root each differs by rounding only") {
  auto right = rich_case<float>();
  std::uint32_t n = 0;
  for (float& value : right.evidence.scaled.elements()) {
    value *= 1 + static_cast<float>(++n % 3) * 0x1p-23f;
  }
  CHECK(right.run("stage.magnitude").status == Status::pass);
}

TEST_CASE("stage.magnitude: without scores the spread tells a missing or a second scale") {
  const CheckResult right = spread(0.25);
  CHECK(right.status == Status::pass);
  CHECK(std::abs(*right.value - 1) < 0.15);
  const CheckResult missing = spread(1);
  CHECK(missing.status == Status::warn);
  CHECK(std::abs(*missing.value - 4) < 0.5);
  CHECK(contains(missing.hint, "missing"));
  const CheckResult twice = spread(1.0 / 16);
  CHECK(twice.status == Status::warn);
  CHECK(contains(twice.hint, "twice"));
}

TEST_CASE("stage.magnitude: q far from variance 1 leaves nothing to expect") {
  const CheckResult result = spread(1, 4.2);
  CHECK(result.status == Status::skip);
  CHECK(contains(result.message, "variance 1"));
}

TEST_CASE("stage.magnitude: heads beyond the values that are seen fail") {
  auto wrong = small_case<double>();  // v: 1 0 / 0 1 / 2 2
  wrong.evidence.heads(0, 0, 1, 0) = 2.5;
  const CheckResult above = wrong.run("stage.magnitude");
  CHECK(above.status == Status::fail);
  CHECK(above.stage == "heads");
  CHECK(*above.value == 0.5);
  CHECK(above.at == Index{1, 0});
  CHECK(contains(above.message, "heads is 2.5, v lies in 0 to 2 there (1 of 4 values)"));
  wrong.evidence.heads(0, 0, 1, 0) = not_a_number;
  CHECK(wrong.run("stage.magnitude").status == Status::fail);
  // 2 is in v, but at a key that nobody sees: the others reach 1
  wrong.evidence.heads(0, 0, 1, 0) = 1.5;
  CHECK(wrong.run("stage.magnitude").status == Status::pass);
  wrong.visibility.lengths = {2};
  wrong.evidence.heads(0, 0, 0, 0) = wrong.evidence.heads(0, 0, 0, 1) = 0.5;
  const CheckResult beyond = wrong.run("stage.magnitude");
  CHECK(beyond.status == Status::fail);
  CHECK(*beyond.value == 0.5);
}

TEST_CASE("stage.magnitude: out of a single head is looked at as heads") {
  auto wrong = small_case<double>();
  wrong.evidence.stages = {{"out", wrong.evidence.heads}};
  wrong.evidence.heads = {};
  CHECK(contains(wrong.run("stage.magnitude").message, "within the range of v"));
  wrong.evidence.stages[0].second(0, 0, 0, 0) = -1;
  CHECK(wrong.run("stage.magnitude").status == Status::fail);
}

TEST_CASE("stage.magnitude: rows without weights and values that are not finite are left out") {
  auto made = small_case<double>();
  made.evidence.v = tensor<double, 4>({1, 1, 3, 2}, {1, 5, 2, not_a_number, 3, 7});
  made.evidence.heads = tensor<double, 4>({1, 1, 2, 2}, {2, not_a_number, 0, 0});
  CHECK(made.run("stage.magnitude").status == Status::fail);  // 0 is below 1
  for (std::size_t j = 0; j < 3; ++j) made.evidence.attn(0, 0, 1, j) = 0;
  CHECK(made.run("stage.magnitude").status == Status::pass);
}

TEST_CASE("stage.magnitude: all scores 0 and no values is a skip") {
  Case<float> made;
  made.size(1, 1, 1, 2, 3, 4, 2);
  made.evidence.scores = made.evidence.scaled = Tensor<float, 4>::make({1, 1, 2, 3});
  const CheckResult result = made.run("stage.magnitude");
  CHECK(result.status == Status::skip);
  CHECK(contains(result.message, "all scores are 0"));
}

TEST_CASE("stage.magnitude: a product too large for the type of the stages is no wrong scale") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto scaled_to = [&](double first, DType dtype) {
    auto made = small_case<double>();  // scores 1, 2, 3 and 1, 2, -1
    made.evidence.eps = epsilon(dtype);
    made.evidence.settings.scale = 2;
    for (std::size_t n = 0; n < 6; ++n)
      made.evidence.scaled.data()[n] = 2 * made.evidence.scores.data()[n];
    made.evidence.scores.data()[0] = 40000;
    made.evidence.scaled.data()[0] = first;
    return made.run("stage.magnitude");
  };
  // 80000 is infinite in float16 alone, and never -Inf.
  CHECK(contains(scaled_to(infinity, DType::float16).message, "scaled is scores*2"));
  CHECK(scaled_to(infinity, DType::float16).status != Status::fail);
  CHECK(scaled_to(infinity, DType::bfloat16).status == Status::fail);
  CHECK(scaled_to(infinity, DType::float32).status == Status::fail);
  CHECK(scaled_to(-infinity, DType::float16).status == Status::fail);
}
