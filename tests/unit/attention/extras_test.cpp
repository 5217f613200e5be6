// ALiBi slopes, normalised queries and keys, and dropout, by numbers on paper.
#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/attention/alibi.hpp"
#include "qkv/attention/dropout.hpp"
#include "qkv/attention/pipeline.hpp"
#include "qkv/attention/qk_norm.hpp"
#include "qkv/attention/rope.hpp"
#include "support/arrays.hpp"
#include "support/captured.hpp"

using namespace qkv;
using namespace qkv::test;

TEST_CASE("alibi: 8 heads have the slopes 1/2 to 1/256 (R083)") {
  const std::vector<double> want = {0.5,     0.25,     0.125,     0.0625,
                                    0.03125, 0.015625, 0.0078125, 0.00390625};
  CHECK(alibi_slopes(8) == want);
}

TEST_CASE("alibi: beyond a power of two the slopes begin anew between the first ones (R084)") {
  const std::vector<double> slopes = alibi_slopes(12);
  CHECK(slopes[7] == 0.00390625);
  const double further[] = {0.7071068, 0.3535534, 0.1767767, 0.0883883};
  for (std::size_t n = 0; n < 4; ++n) CHECK(slopes[8 + n] == Approx(further[n]).epsilon(1e-6));
}

TEST_CASE("alibi: the bias is the slope times the distance to the query's own position") {
  // One head: slope 2^-8. Two queries at the end of four keys: positions 2 and 3.
  Inputs inputs;
  inputs.q = array_of({2, 1}, {0, 0});
  inputs.k = array_of({4, 1}, {1, 1, 1, 1});
  inputs.v = array_of({4, 1}, {1, 2, 3, 4});
  const auto run = captured<double>(inputs, {.causal_align = CausalAlign::end, .alibi = true});
  const auto masked = run["masked"];
  const double steps[] = {-2, -1, 0, -1, -3, -2, -1, 0};
  for (std::size_t n = 0; n < 8; ++n) CHECK(masked.data()[n] == steps[n] / 256);
}

TEST_CASE("qk-norm: without gains it commutes with the rotation (R098)") {
  const auto x = as_rank<double, 4>(array_of({1, 1, 1, 2}, {3, 4}).array);
  auto at_1 = Tensor<double, 2>::make({1, 1});
  at_1(std::size_t{0}, std::size_t{0}) = 1;
  const auto turn = [&](const Tensor<double, 4>& t) {
    return rope(t, at_1, 1e4, RopeStyle::half, 2);
  };
  const auto norm = [&](const Tensor<double, 4>& t) {
    return qk_norm(t, QkNorm::rms, 0, Tensor<double, 1>{});
  };
  for (const auto& y : {turn(norm(x)), norm(turn(x))}) {
    CHECK(y.data()[0] == Approx(-0.493554).margin(1e-6));
    CHECK(y.data()[1] == Approx(1.325294).margin(1e-6));
  }
}

TEST_CASE("qk-norm: a vector of zeros stays one, divided by the epsilon") {
  const auto zeros = Tensor<double, 4>::make({1, 1, 1, 4});
  for (const QkNorm kind : {QkNorm::rms, QkNorm::layer, QkNorm::l2}) {
    const auto y = qk_norm(zeros, kind, 1e-6, Tensor<double, 1>{});
    for (const double value : y.elements()) CHECK(value == 0);
  }
}

TEST_CASE("dropout: weights are 0 or divided by 1 - p, and p of them are 0 within six deviations") {
  auto attn = Tensor<double, 4>::make({2, 3, 40, 50});
  for (double& weight : attn.elements()) weight = 0.02;
  for (const double p : {0.1, 0.5}) {
    const auto dropped = dropout(attn, p, 7, 3, 40);
    double zeros = 0;
    for (const double weight : dropped.elements()) {
      if (weight == 0) {
        ++zeros;
      } else {
        CHECK(weight == Approx(0.02 / (1 - p)).epsilon(1e-12));
      }
    }
    const auto n = static_cast<double>(attn.size());
    CHECK(std::abs(zeros - n * p) < 6 * std::sqrt(n * p * (1 - p)));
  }
}

TEST_CASE("dropout: a block of rows is dropped as in the whole, and another seed drops others") {
  auto attn = Tensor<double, 4>::make({2, 3, 5, 7});
  for (double& weight : attn.elements()) weight = 1;
  auto block = Tensor<double, 4>::make({1, 1, 2, 7});
  for (double& weight : block.elements()) weight = 1;
  const auto whole = dropout(attn, 0.4, 11, 3, 5), other = dropout(attn, 0.4, 12, 3, 5);
  const auto part = dropout(block, 0.4, 11, 3, 5, Origin{1, 2, 3});
  bool differ = false;
  for (std::size_t n = 0; n < attn.size(); ++n)
    differ = differ || whole.data()[n] != other.data()[n];
  CHECK(differ);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 7; ++j)
      CHECK(part(std::size_t{0}, std::size_t{0}, i, j) ==
            whole(std::size_t{1}, std::size_t{2}, 3 + i, j));
  }
}

TEST_CASE("dropout: p = 0 keeps every weight, p = 1 none") {
  auto attn = Tensor<float, 4>::make({1, 1, 3, 3});
  for (float& weight : attn.elements()) weight = 0.25F;
  const auto all = dropout(attn, 0, 0, 1, 3), none = dropout(attn, 1, 0, 1, 3);
  for (const float weight : all.elements()) CHECK(weight == 0.25F);
  for (const float weight : none.elements()) CHECK(weight == 0);
}
