// softmax.row_sum
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "cases.hpp"
#include "qkv/tensor/dtype.hpp"
#include "qkv/tensor/half.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

double rounded_to(DType type, double value) {
  const auto single = static_cast<float>(value);
  if (type == DType::float16) return float16_to_float(float_to_float16(single));
  if (type == DType::bfloat16) return bfloat16_to_float(float_to_bfloat16(single));
  return single;
}

enum class Order { forward, pairwise };

/// Softmax of n random logits in float, summed in the given order, stored as `type`.
std::vector<double> long_row(std::size_t n, DType type, Order order, double spread) {
  std::mt19937 random(11);
  std::vector<float> e(n);
  for (float& value : e) {
    value = std::exp(static_cast<float>(spread * (static_cast<double>(random()) / 0x1p32 - 1)));
  }
  float sum = 0;
  if (order == Order::forward) {
    for (const float value : e) sum += value;
  } else {
    std::vector<float> level = e;
    while (level.size() > 1) {
      for (std::size_t i = 0; i < level.size() / 2; ++i) level[i] = level[2 * i] + level[2 * i + 1];
      level.resize(level.size() / 2);
    }
    sum = level[0];
  }
  std::vector<double> row;
  for (const float value : e) row.push_back(rounded_to(type, static_cast<double>(value / sum)));
  return row;
}

}  // namespace

TEMPLATE_TEST_CASE("softmax.row_sum: right weights pass, with a limit of about 1e-06 in float", "",
                   float, double) {
  auto right = small_case<TestType>();
  const CheckResult result = right.run("softmax.row_sum");
  CHECK(result.status == Status::pass);
  CHECK(result.step == 4);
  CHECK(result.stage == "attn");
  // 2 u + u (3 + 2 ln 3 + 8), u = 2^-24 or 2^-53
  const double u = std::is_same_v<TestType, float> ? 0x1p-24 : 0x1p-53;
  CHECK(std::abs(*result.limit / (u * 15.19722) - 1) < 1e-6);
  CHECK(*result.value <= *result.limit);
}

TEST_CASE("softmax.row_sum: softmax over the queries is off by what its rows sum to") {
  // rows sum to 1.418040, 0.673786, 0.908174
  auto wrong = weights_case<double>(
      3, 3,
      {0.575975, 0.108383, 0.733681, 0.140029, 0.445808, 0.087949, 0.283995, 0.445808, 0.178370});
  const CheckResult result = wrong.run("softmax.row_sum");
  CHECK(result.status == Status::fail);
  CHECK(std::abs(*result.value - 0.418039) < 1e-9);
  CHECK(result.at == Index{0});
  CHECK(contains(result.message, "sums to 1.418"));
  CHECK(contains(result.message, "(3 of 3 rows)"));
}

TEST_CASE("softmax.row_sum: a scale after the softmax is recognised by its one factor") {
  // softmax(q*k^T)*0.5 with D = 4
  auto wrong =
      weights_case<double>(2, 3, {0.045015, 0.122364, 0.332621, 0.129748, 0.352692, 0.017560});
  wrong.evidence.sizes.D = 4;
  const CheckResult result = wrong.run("softmax.row_sum");
  CHECK(result.status == Status::fail);
  CHECK(std::abs(*result.value - 0.5) < 1e-6);
}

TEST_CASE("softmax.row_sum: dropout and a sink are found, whatever the type") {
  const double eps = GENERATE(0x1p-10, 0x1p-7, 0x1p-23);
  // dropout with p = 0.1 and a sink with the logit 0.5, rows of three keys
  auto dropped = weights_case<float>(2, 3, {0.207026, 0, 0.562756, 0.368332, 0.607277, 0.135502});
  dropped.evidence.eps = eps;
  const CheckResult dropout = dropped.run("softmax.row_sum");
  CHECK(dropout.status == Status::fail);
  CHECK(std::abs(*dropout.value - 0.230218) < 1e-6);
  CHECK(dropout.at == Index{0});

  auto sunk = weights_case<float>(2, 3, {0.15706, 0.258948, 0.426933, 0.248967, 0.410477, 0.09159});
  sunk.evidence.eps = eps;
  const CheckResult sink = sunk.run("softmax.row_sum");
  CHECK(sink.status == Status::fail);
  CHECK(std::abs(*sink.value - 0.248966) < 1e-6);
  CHECK(sink.at == Index{1});
}

TEST_CASE("softmax.row_sum: 4096 keys pass in every type and order of summation") {
  const DType type = GENERATE(DType::float16, DType::bfloat16, DType::float32);
  const Order order = GENERATE(Order::forward, Order::pairwise);
  const double spread = GENERATE(0.0, 1.0, 30.0);
  auto right = weights_case<float>(1, 4096, long_row(4096, type, order, spread));
  right.evidence.eps = epsilon(type);
  const CheckResult result = right.run("softmax.row_sum");
  INFO(name(type) << " " << *result.value << " " << *result.limit);
  CHECK(result.status == Status::pass);
}

TEST_CASE("softmax.row_sum: 4096 keys with a tenth dropped fail in every type") {
  const DType type = GENERATE(DType::float16, DType::bfloat16, DType::float32);
  std::vector<double> row = long_row(4096, type, Order::pairwise, 1);
  for (std::size_t j = 0; j < row.size(); j += 10) row[j] = 0;
  auto wrong = weights_case<float>(1, 4096, row);
  wrong.evidence.eps = epsilon(type);
  CHECK(wrong.run("softmax.row_sum").status == Status::fail);
}

TEST_CASE("softmax.row_sum: a row that sees no key follows the policy for empty rows") {
  const std::vector<double> zero = {0, 0}, half = {0.5, 0.5}, none = {not_a_number, not_a_number};
  const auto status = [](EmptyRows policy, const std::vector<double>& row) {
    auto made = weights_case<float>(2, 2, {0.25, 0.75, row[0], row[1]});
    made.visibility.hidden_by_mask = Tensor<std::uint8_t, 4>::make({1, 1, 2, 2});
    made.visibility.hidden_by_mask(0, 0, 1, 0) = made.visibility.hidden_by_mask(0, 0, 1, 1) = 1;
    made.visibility.empty_rows = made.evidence.settings.empty_rows = policy;
    return made.run("softmax.row_sum").status;
  };
  CHECK(status(EmptyRows::zero, zero) == Status::pass);
  CHECK(status(EmptyRows::zero, half) == Status::fail);
  CHECK(status(EmptyRows::zero, none) == Status::fail);
  CHECK(status(EmptyRows::uniform, half) == Status::pass);
  CHECK(status(EmptyRows::uniform, zero) == Status::fail);
  CHECK(status(EmptyRows::uniform, none) == Status::fail);
  CHECK(status(EmptyRows::nan, none) == Status::pass);
  CHECK(status(EmptyRows::nan, zero) == Status::fail);
}

TEST_CASE("softmax.row_sum: a NaN fails and stays the worst") {
  auto wrong = rich_case<float>();
  wrong.evidence.attn(1, 2, 3, 0) = static_cast<float>(not_a_number);
  const CheckResult result = wrong.run("softmax.row_sum");
  CHECK(result.status == Status::fail);
  CHECK(std::isnan(*result.value));
  CHECK(result.at == Index{1, 2, 3});
  CHECK(contains(result.message, "(1 of 40 rows)"));
}

TEST_CASE("softmax.row_sum: one key is a skip where right, a failure where not") {
  CHECK(weights_case<float>(3, 1, {1, 1, 1}).run("softmax.row_sum").status == Status::skip);
  // a lone weight of 1.25 = 1/(1 - 0.2)
  const CheckResult result = weights_case<float>(1, 1, {1.25}).run("softmax.row_sum");
  CHECK(result.status == Status::fail);
  CHECK(*result.value == 0.25);
}
