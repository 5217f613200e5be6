// The checks of a block on rows and stages made for them.
#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "qkv/checks/block_check.hpp"
#include "support/arrays.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

Tensor<double, 3> rows_of(const Shape& shape, const std::vector<double>& numbers) {
  return as_rank<double, 3>(array_of(shape, numbers).array);
}

Tensor<double, 4> stage_of(const std::vector<double>& numbers) {
  return as_rank<double, 4>(array_of({1, 1, 1, numbers.size()}, numbers).array);
}

CheckResult only(const std::string& id, const BlockEvidence<double>& evidence) {
  for (const CheckResult& result : run_block_checks(evidence))
    if (result.id == id) return result;
  return {};
}

/// 1 2 3 6 has mean 3 and variance 3.5: with eps 0.5 its rows are -1 -0.5 0 1.5.
BlockEvidence<double> normed(const std::vector<double>& rows, double eps = 0.5) {
  return {.settings = {.eps = eps},
          .has_batch = false,
          .norm1_in = rows_of({1, 1, 4}, {1, 2, 3, 6}),
          .norm1_rows = rows_of({1, 1, 4}, rows)};
}

}  // namespace

TEST_CASE("block.norm: right rows pass, whatever eps takes off their variance") {
  CHECK(only("block.norm", normed({-1, -0.5, 0, 1.5})).status == Status::pass);
}

TEST_CASE("block.norm: the variance divided by E - 1 fails") {
  // sqrt((14/3) + 0.5) = 2.27303...
  const double by = 2.273030283;
  const CheckResult result = only("block.norm", normed({-2 / by, -1 / by, 0, 3 / by}));
  CHECK(result.status == Status::fail);
  CHECK(result.stage == "norm1");
  CHECK(result.at == std::vector<std::size_t>{0});
}

TEST_CASE("block.norm: a mean that was not taken off fails, and so does NaN") {
  CHECK(only("block.norm", normed({0.5, 1, 1.5, 3})).status == Status::fail);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(only("block.norm", normed({nan, nan, nan, nan})).status == Status::fail);
}

TEST_CASE("block.norm: with rms the mean stays, and the mean square is 1") {
  // 1 2 3 6: mean square 12.5; with eps 3.5 the divisor is 4.
  BlockEvidence<double> evidence = normed({0.25, 0.5, 0.75, 1.5}, 3.5);
  evidence.settings.kind = NormKind::rms;
  CHECK(only("block.norm", evidence).status == Status::pass);
  evidence.settings.eps = 0.5;
  CHECK(only("block.norm", evidence).status == Status::fail);
}

TEST_CASE("block.norm: rows that are flat before the norm are warned of") {
  BlockEvidence<double> evidence = normed({0, 0, 0, 0});
  evidence.norm1_in = rows_of({1, 1, 4}, {2, 2, 2, 2});
  CHECK(only("block.norm", evidence).status == Status::warn);
}

TEST_CASE("block.residual: post-norm adds the feed-forward to norm1, not to res1") {
  BlockEvidence<double> evidence{.has_batch = false,
                                 .stages = {{"x", stage_of({1, 2})},
                                            {"out", stage_of({10, 20})},
                                            {"res1", stage_of({11, 22})},
                                            {"norm1", stage_of({-1, 1})},
                                            {"ff2", stage_of({5, 7})},
                                            {"res2", stage_of({4, 8})}}};
  CHECK(only("block.residual", evidence).status == Status::pass);
  evidence.settings.order = NormOrder::pre;
  const CheckResult result = only("block.residual", evidence);
  CHECK(result.status == Status::fail);
  CHECK(result.stage == "res2");
}

TEST_CASE(
    "block.finite: the first stage that is not finite is named, and the weight that made it") {
  const double inf = std::numeric_limits<double>::infinity();
  BlockInputs inputs;
  inputs.ff_w1 = array_of({1, 2}, {1, inf}, DType::float64, "ff_w1.npy");
  const BlockEvidence<double> evidence{
      .has_batch = false,
      .inputs = &inputs,
      .stages = {
          {"x", stage_of({1, 2})}, {"ff1", stage_of({1, inf})}, {"ff2", stage_of({inf, 1})}}};
  const CheckResult result = only("block.finite", evidence);
  CHECK(result.status == Status::fail);
  CHECK(result.stage == "ff1");
  CHECK(result.at == std::vector<std::size_t>{0, 1});
  CHECK(result.message.find("ff_w1.npy (1)") != std::string::npos);
}

TEST_CASE("block checks: without stages all are skipped") {
  const BlockEvidence<double> nothing;
  CHECK(only("block.finite", nothing).status == Status::skip);
  CHECK(only("block.norm", nothing).status == Status::skip);
  CHECK(only("block.residual", nothing).status == Status::skip);
}
