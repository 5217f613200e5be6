// softmax.axis
#include <catch2/catch.hpp>
#include <cmath>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// exp(x) divided by its sums over the axes that `same` puts together.
template <class Same>
Tensor<double, 4> softmax_over(const Tensor<double, 4>& x, Same same) {
  auto y = Tensor<double, 4>::make(x.sizes());
  const auto& n = x.sizes();
  using At = std::array<std::size_t, 4>;
  std::vector<At> all;
  for (std::size_t b = 0; b < n[0]; ++b)
    for (std::size_t h = 0; h < n[1]; ++h)
      for (std::size_t i = 0; i < n[2]; ++i)
        for (std::size_t j = 0; j < n[3]; ++j) all.push_back({b, h, i, j});
  for (const At& a : all) {
    double sum = 0;
    for (const At& c : all) {
      if (same(a, c)) sum += std::exp(x(c[0], c[1], c[2], c[3]));
    }
    y(a[0], a[1], a[2], a[3]) = std::exp(x(a[0], a[1], a[2], a[3])) / sum;
  }
  return y;
}

CheckResult axis_of(const std::array<bool, 4>& summed) {
  auto wrong = rich_case<double>();
  wrong.evidence.attn = softmax_over(wrong.evidence.scaled, [&](const auto& a, const auto& c) {
    for (std::size_t axis = 0; axis < 4; ++axis) {
      if (!summed[axis] && a[axis] != c[axis]) return false;
    }
    return true;
  });
  return wrong.run_alone("softmax.axis");
}

}  // namespace

TEMPLATE_TEST_CASE("softmax.axis: the last axis passes", "", float, double) {
  CHECK(rich_case<TestType>().run("softmax.axis").status == Status::pass);
  CHECK(small_case<TestType>().run("softmax.axis").status == Status::pass);
}

TEST_CASE("softmax.axis: names each axis that sums to 1 in place of the last") {
  const CheckResult queries = axis_of({false, false, true, false});
  CHECK(queries.status == Status::fail);
  CHECK(contains(queries.message, "over the query axis (axis 2), not"));
  const CheckResult heads = axis_of({false, true, false, false});
  CHECK(heads.status == Status::fail);
  CHECK(contains(heads.message, "over the head axis (axis 1), not"));
  const CheckResult batch = axis_of({true, false, false, false});
  CHECK(batch.status == Status::fail);
  CHECK(contains(batch.message, "over the batch axis (axis 0), not"));
  const CheckResult matrix = axis_of({false, false, true, true});
  CHECK(matrix.status == Status::fail);
  CHECK(contains(matrix.message, "over each whole matrix of queries and keys, not"));
  const CheckResult whole = axis_of({true, true, true, true});
  CHECK(whole.status == Status::fail);
  CHECK(contains(whole.message, "over the whole tensor, not"));
}

TEST_CASE("softmax.axis: batch 1 and a softmax over it gives all ones") {
  // scores [1,2], softmax over axis 0
  const CheckResult result = weights_case<float>(1, 2, {1, 1}).run("softmax.axis");
  CHECK(result.status == Status::fail);
  CHECK(*result.value == 1);
  CHECK(contains(result.message, "the query axis (axis 0)"));
}

TEST_CASE("softmax.axis: three axes, softmax over the first") {
  Case<double> wrong;
  wrong.size(2, 1, 1, 1, 2, 0, 0);
  wrong.evidence.attn =
      tensor<double, 4>({2, 1, 1, 2}, {1 / (1 + std::exp(2.0)), 1 / (1 + std::exp(-1.0)),
                                       1 / (1 + std::exp(-2.0)), 1 / (1 + std::exp(1.0))});
  const CheckResult result = wrong.run("softmax.axis");
  CHECK(result.status == Status::fail);
  CHECK(contains(result.message, "the batch axis (axis 0)"));
  CHECK_FALSE(contains(result.message, "query axis"));
}

TEST_CASE("softmax.axis: one key a row says nothing") {
  CHECK(weights_case<float>(3, 1, {1, 1, 1}).run("softmax.axis").status == Status::skip);
}

TEST_CASE("softmax.axis: symmetric scores decide nothing, sums do") {
  const double a = 1 / (1 + std::exp(-1.0)), b = 1 - a;
  CHECK(weights_case<double>(2, 2, {a, b, a, b}).run("softmax.axis").status == Status::pass);
  const CheckResult transposed = weights_case<double>(2, 2, {a, a, b, b}).run("softmax.axis");
  CHECK(transposed.status == Status::fail);
  CHECK(contains(transposed.message, "the query axis (axis 0)"));
}

TEST_CASE("softmax.axis: columns that nobody sees do not hide the wrong axis") {
  // softmax over the queries after a causal mask; queries 0 to 2 and a fourth key, which none sees
  auto wrong = weights_case<double>(3, 4, {});
  const double d0 = std::exp(std::sqrt(2.0)), d1 = 1, d2 = std::exp(std::sqrt(0.5));
  const double sum = d0 + d1 + d2;
  wrong.evidence.attn = tensor<double, 4>(
      {1, 1, 3, 4}, {d0 / sum, 0, 0, 0, d1 / sum, 0.5, 0, 0, d2 / sum, 0.5, 1, 0});
  wrong.visibility.causal = true;
  const CheckResult result = wrong.run("softmax.axis");
  CHECK(result.status == Status::fail);
  CHECK(contains(result.message, "the query axis (axis 0)"));
}

TEST_CASE("softmax.axis: rows that are off for another reason are not blamed on an axis") {
  auto dropped = weights_case<float>(2, 3, {0.207026, 0, 0.562756, 0.368332, 0.607277, 0.135502});
  const CheckResult result = dropped.run("softmax.axis");
  CHECK(result.status == Status::pass);
  CHECK_FALSE(result.value.has_value());
}

TEST_CASE("softmax.axis: NaN is no sum of 1") {
  const CheckResult result =
      weights_case<float>(2, 2, {not_a_number, 0.5, 0.5, 0.5}).run("softmax.axis");
  CHECK(result.status == Status::pass);  // rows are off, and no axis explains it
  CHECK(contains(result.message, "softmax.row_sum"));
}
