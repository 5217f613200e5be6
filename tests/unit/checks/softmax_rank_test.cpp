// softmax.rank, and the rank of log attn behind it
#include "qkv/checks/softmax_rank.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "cases.hpp"
#include "data/printed.hpp"
#include "qkv/base/error.hpp"
#include "qkv/tensor/dtype.hpp"
#include "qkv/tensor/half.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// A matrix that a tutorial prints for d_k = 2 and no mask, to four digits.
const std::vector<double> printed = {
    0.1779, 0.1738, 0.1749, 0.1600, 0.1560, 0.1574, 0.1580, 0.1856, 0.1599, 0.1669, 0.1691, 0.1605,
    0.1645, 0.1661, 0.1685, 0.1668, 0.1678, 0.1663, 0.1564, 0.1578, 0.1599, 0.1754, 0.1718, 0.1787,
    0.1673, 0.1649, 0.1651, 0.1659, 0.1704, 0.1664, 0.1653, 0.1645, 0.1651, 0.1659, 0.1664, 0.1728};

/// A bell-shaped number of variance 1: the sum of twelve even ones. Unlike the distributions of the
/// standard library, mt19937 gives the same everywhere.
double normal(std::mt19937& random) {
  double sum = -6;
  for (int n = 0; n < 12; ++n) sum += static_cast<double>(random()) / 0x1p32;
  return sum;
}

/// Weights of random q and k of width D, in double, stored as `type`; keys j > i hidden if causal.
std::vector<double> weights_of(std::size_t L, std::size_t S, std::size_t D, DType type,
                               bool causal = false) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(L + 1000 * D));
  std::vector<double> q(L * D), k(S * D), attn;
  for (double& value : q) value = normal(random);
  for (double& value : k) value = normal(random);
  for (std::size_t i = 0; i < L; ++i) {
    std::vector<double> row(S, 0.0);
    double sum = 0;
    for (std::size_t j = 0; j < S; ++j) {
      if (causal && j > i) continue;
      double dot = 0;
      for (std::size_t d = 0; d < D; ++d) dot += q[i * D + d] * k[j * D + d];
      row[j] = std::exp(dot / std::sqrt(static_cast<double>(D)));
      sum += row[j];
    }
    for (const double value : row) {
      const double weight = value / sum;
      const auto single = static_cast<float>(weight);
      attn.push_back(type == DType::float64    ? weight
                     : type == DType::float16  ? float16_to_float(float_to_float16(single))
                     : type == DType::bfloat16 ? bfloat16_to_float(float_to_bfloat16(single))
                                               : single);
    }
  }
  return attn;
}

Case<double> rank_case(std::size_t L, std::size_t S, std::size_t D, const std::vector<double>& attn,
                       DType type) {
  auto made = weights_case<double>(L, S, attn);
  made.evidence.sizes.D = D;
  made.evidence.eps = epsilon(type);
  return made;
}

}  // namespace

TEST_CASE("log_rank: the printed 6 x 6 matrix has rank 5, so no q and k of width 2 made it") {
  const RankFinding finding = log_rank(tensor<double, 2>({6, 6}, printed), 5e-5);
  CHECK(finding.rank == 5);
  CHECK(finding.smallest > finding.noise);
  // The least singular value of the whole centred log is 0.016195 (NumPy): no part exceeds it.
  CHECK(finding.smallest < 0.016195);
}

TEST_CASE("log_rank: weights that width 2 did make are never called impossible") {
  for (const auto* attn :
       {&data::printed_0, &data::printed_1, &data::printed_2, &data::printed_3}) {
    const RankFinding finding = log_rank(tensor<double, 2>({6, 6}, *attn), 5e-5);
    CHECK(finding.rank <= 2);
    CHECK(finding.rank >= 1);
  }
}

TEST_CASE("log_rank: the same weights with one digit off are found out") {
  auto attn = data::printed_0;
  attn[14] += 0.01;
  attn[15] -= 0.01;
  CHECK(log_rank(tensor<double, 2>({6, 6}, attn), 5e-5).rank > 2);
}

TEST_CASE("log_rank: a weight that may be 0 has no logarithm") {
  CHECK_THROWS_AS(log_rank(tensor<double, 2>({1, 2}, {5e-5, 0.9999}), 5e-5), Error);
  CHECK_THROWS_AS(log_rank(tensor<double, 2>({1, 2}, {not_a_number, 0.9999}), 5e-5), Error);
}

TEST_CASE("certain_rank: exact small matrices") {
  const auto none = Tensor<double, 2>::make({3, 3});
  const auto rank_two = tensor<double, 2>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(certain_rank(rank_two, none, 3).rank == 2);
  CHECK(certain_rank(tensor<double, 2>({3, 3}, {0, 2, 0, 1, 0, 0, 0, 0, 3}), none, 3).rank == 3);
  CHECK(certain_rank(none, none, 3).rank == 0);
  // diag(3, 2): an error of 1 on each element can make it singular (3*2 = 6 < ...), one of 0.5 not:
  // the inverse has the norm sqrt(1/9 + 1/4) = 0.601, so 1.664 against 4*0.5^2 = 1 under the root.
  const auto diagonal = tensor<double, 2>({2, 2}, {3, 0, 0, 2});
  const RankFinding finding =
      certain_rank(diagonal, tensor<double, 2>({2, 2}, {0.5, 0.5, 0.5, 0.5}), 2);
  CHECK(finding.rank == 2);
  CHECK(std::abs(finding.smallest - 1 / std::sqrt(1.0 / 9 + 1.0 / 4)) < 1e-12);
  CHECK(finding.noise == 1);
  CHECK(certain_rank(diagonal, tensor<double, 2>({2, 2}, {1, 1, 1, 1}), 2).rank == 1);
}

TEST_CASE("softmax.rank: right weights of D = 64 and 200 tokens pass in every type") {
  const DType type = GENERATE(DType::float64, DType::float32, DType::float16, DType::bfloat16);
  auto right = rank_case(200, 200, 64, weights_of(200, 200, 64, type), type);
  const CheckResult result = right.run("softmax.rank");
  INFO(name(type) << " " << result.message);
  CHECK(result.status == Status::pass);
  CHECK(*result.limit == 64);
  if (type == DType::float64 || type == DType::float32) CHECK(*result.value == 64);
}

TEST_CASE("softmax.rank: width 3 is not width 2, in every type") {
  const DType type = GENERATE(DType::float64, DType::float32, DType::float16, DType::bfloat16);
  const CheckResult result =
      rank_case(40, 50, 2, weights_of(40, 50, 3, type), type).run("softmax.rank");
  INFO(name(type) << " " << result.message);
  CHECK(result.status == Status::fail);
  CHECK(*result.value == 3);
  CHECK(*result.limit == 2);
}

TEST_CASE("softmax.rank: the printed matrix fails as evidence too") {
  auto wrong = rank_case(6, 6, 2, printed, DType::float32);
  CHECK(wrong.run("softmax.rank").status == Status::fail);
}

TEST_CASE("softmax.rank: a causal triangle is judged by the part that all see") {
  auto right = rank_case(40, 40, 3, weights_of(40, 40, 3, DType::float64, true), DType::float64);
  right.visibility.causal = true;
  const CheckResult pass = right.run("softmax.rank");
  CHECK(pass.status == Status::pass);
  CHECK(*pass.value == 3);
  right.evidence.sizes.D = 2;
  CHECK(right.run("softmax.rank").status == Status::fail);
  // 7 x 7: of the triangle no more than 4 x 4 is fully seen, which has rank 3 whatever made it.
  auto small = rank_case(7, 7, 3, weights_of(7, 7, 3, DType::float64, true), DType::float64);
  small.visibility.causal = true;
  CHECK(small.run("softmax.rank").status == Status::skip);
}

TEST_CASE("softmax.rank: is skipped where more than q*k^T made the scores, or D limits nothing") {
  const auto attn = weights_of(8, 9, 5, DType::float64);
  const auto skips = [](Case<double> made, std::string_view reason) {
    const CheckResult result = made.run("softmax.rank");
    INFO(result.message);
    return result.status == Status::skip && contains(result.message, reason);
  };
  CHECK(rank_case(8, 9, 5, attn, DType::float64).run("softmax.rank").status == Status::pass);
  CHECK(skips(rank_case(8, 9, 0, attn, DType::float64), "needs D"));
  CHECK(skips(rank_case(8, 9, 8, attn, DType::float64), "limits nothing"));
  auto capped = rank_case(8, 9, 5, attn, DType::float64);
  capped.evidence.settings.softcap = 30;
  CHECK(skips(capped, "softcap"));
  auto biased = rank_case(8, 9, 5, attn, DType::float64);
  biased.visibility.added = tensor<double, 4>({1, 1, 1, 9}, {0, 0, -1, 0, 0, 0, 0, 0, 0});
  CHECK(skips(biased, "added"));
}

TEST_CASE("softmax.rank: weights that were flushed to 0 are left out, not taken the log of") {
  auto attn = weights_of(60, 60, 4, DType::float64);
  for (std::size_t i = 0; i < 60; ++i) attn[i * 60 + 7] = 0;
  auto made = rank_case(60, 60, 4, attn, DType::float64);
  const CheckResult result = made.run("softmax.rank");
  CHECK(result.status == Status::pass);
  CHECK(*result.value == 4);
}

TEST_CASE("softmax.rank: names the head that is off") {
  const auto right = weights_of(20, 20, 2, DType::float64),
             wrong = weights_of(20, 20, 3, DType::float64);
  Case<double> made;
  made.size(2, 2, 2, 20, 20, 2, 0);
  made.evidence.attn = Tensor<double, 4>::make({2, 2, 20, 20});
  for (std::size_t n = 0; n < 4; ++n) {
    std::copy_n((n == 2 ? wrong : right).data(), 400, made.evidence.attn.data() + 400 * n);
  }
  const CheckResult result = made.run("softmax.rank");
  CHECK(result.status == Status::fail);
  CHECK(result.at == Index{1, 0});
  CHECK(contains(result.message, "(1 of 4 heads)"));
}
