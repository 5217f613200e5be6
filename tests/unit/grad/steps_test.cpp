// The steps back, by numbers on paper.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "qkv/attention/dropout.hpp"
#include "qkv/attention/rope.hpp"
#include "qkv/grad/cache_grad.hpp"
#include "qkv/grad/dropout_grad.hpp"
#include "qkv/grad/mask_grad.hpp"
#include "qkv/grad/project_grad.hpp"
#include "qkv/grad/qk_norm_grad.hpp"
#include "qkv/grad/rope_grad.hpp"
#include "qkv/grad/scores_grad.hpp"
#include "qkv/grad/softcap_grad.hpp"
#include "qkv/grad/softmax_grad.hpp"
#include "qkv/grad/weighted_sum_grad.hpp"
#include "support/arrays.hpp"
#include "support/painted.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

template <std::size_t Rank>
Tensor<double, Rank> tensor(const std::array<std::size_t, Rank>& sizes,
                            const std::vector<double>& values) {
  return as_rank<double, Rank>(array_of(Shape(sizes.begin(), sizes.end()), values).array);
}

template <std::size_t Rank>
std::vector<double> values_of(const Tensor<double, Rank>& t) {
  return {t.elements().begin(), t.elements().end()};
}

using Values = std::vector<double>;
constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("softmax_grad: weights 1/4 and 3/4 share the gradient 3/16 with opposite signs") {
  const auto attn = tensor<4>({1, 1, 1, 2}, {0.25, 0.75});
  const auto dattn = tensor<4>({1, 1, 1, 2}, {1, 0});  // r = 1/4
  const auto grad = softmax_grad(dattn, attn, attn, {}, {});
  CHECK(values_of(grad.logits) == Values{0.1875, -0.1875});
  CHECK(grad.sinks.empty());
}

TEST_CASE("softmax_grad: a saturated row passes nothing on") {
  const auto attn = tensor<4>({1, 1, 1, 2}, {1, 0});
  const auto grad = softmax_grad(tensor<4>({1, 1, 1, 2}, {5, -7}), attn, attn, {}, {});
  CHECK(values_of(grad.logits) == Values{0, 0});
}

TEST_CASE("softmax_grad: a sink as large as the only score takes half, and the opposite gradient") {
  const auto x = tensor<4>({1, 1, 1, 1}, {0});
  const auto attn = tensor<4>({1, 1, 1, 1}, {0.5});
  const auto grad = softmax_grad(tensor<4>({1, 1, 1, 1}, {1}), attn, x, tensor<1>({1}, {0}), {});
  CHECK(values_of(grad.logits) == Values{0.25});
  CHECK(values_of(grad.sinks) == Values{-0.25});
}

TEST_CASE("softmax_grad: a query that sees no key gets 0, whatever its weights are") {
  Visibility<double> nothing{.L = 1, .S = 2, .lengths = {0}};
  const auto x = tensor<4>({1, 1, 1, 2}, {-inf, -inf});
  for (const double weight : {0.0, 0.5, std::nan("")}) {
    const auto attn = tensor<4>({1, 1, 1, 2}, {weight, weight});
    const auto grad = softmax_grad(tensor<4>({1, 1, 1, 2}, {3, 4}), attn, x, {}, nothing);
    CHECK(values_of(grad.logits) == Values{0, 0});
  }
}

TEST_CASE("weighted_sum_grad: a value head sums over the query heads that read it") {
  // H = 2, G = 1, L = 1, S = 2, Dv = 1
  const auto attn = tensor<4>({1, 2, 1, 2}, {0.25, 0.75, 0.5, 0.5});
  const auto v = tensor<4>({1, 1, 2, 1}, {10, 20});
  const auto grad = weighted_sum_grad(tensor<4>({1, 2, 1, 1}, {1, 4}), attn, v);
  CHECK(values_of(grad.attn) == Values{10, 20, 40, 80});
  CHECK(values_of(grad.v) == Values{0.25 + 4 * 0.5, 0.75 + 4 * 0.5});
}

TEST_CASE("scores_grad: a key head sums over the query heads that read it") {
  const auto q = tensor<4>({1, 2, 1, 1}, {3, 5});
  const auto k = tensor<4>({1, 1, 2, 1}, {10, 20});
  const auto grad = scores_grad(tensor<4>({1, 2, 1, 2}, {1, 2, 3, 4}), q, k);
  CHECK(values_of(grad.q) == Values{10 + 40, 30 + 80});
  CHECK(values_of(grad.k) == Values{3 + 15, 6 + 20});
}

TEST_CASE("mask_grad: hidden scores get 0, also where a finite fill left them some weight") {
  Visibility<double> causal{.L = 2, .S = 2, .causal = true, .offset = {0}};
  causal.fill = {Fill::Kind::number, -4};
  const auto grad = mask_grad(tensor<4>({1, 1, 2, 2}, {1, 2, 3, 4}), causal);
  CHECK(values_of(grad) == Values{1, 0, 3, 4});
}

TEST_CASE("added_grad: sums over the axes along which the mask was broadcast") {
  const auto dx = tensor<4>({1, 2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40});
  CHECK(values_of(added_grad(dx, Tensor<double, 4>::make({1, 1, 1, 2}))) == Values{44, 66});
  CHECK(values_of(added_grad(dx, Tensor<double, 4>::make({1, 2, 1, 1}))) == Values{10, 100});
}

TEST_CASE("softcap_grad: three quarters at half the cap, nothing at the cap") {
  const auto grad =
      softcap_grad(tensor<4>({1, 1, 1, 3}, {8, 8, 8}), tensor<4>({1, 1, 1, 3}, {0, 1, 2}), 2);
  CHECK(values_of(grad) == Values{8, 6, 0});
}

TEST_CASE("qk_norm_grad: (3,4) brought to length 1 can only turn") {
  // n = (0.6, 0.8), r = 5, a = (1,0): (1 - 0.6*0.6, -0.8*0.6)/5
  const auto grad = qk_norm_grad(tensor<4>({1, 1, 1, 2}, {1, 0}), tensor<4>({1, 1, 1, 2}, {3, 4}),
                                 QkNorm::l2, 1e-12, tensor<1>({2}, {1, 1}));
  CHECK(std::abs(grad.x.data()[0] - 0.128) < 1e-15);
  CHECK(std::abs(grad.x.data()[1] + 0.096) < 1e-15);
  CHECK(std::abs(grad.gain.data()[0] - 0.6) < 1e-15);
  CHECK(grad.gain.data()[1] == 0);
}

TEST_CASE("qk_norm_grad: a vector shorter than eps is divided by eps, and so is its gradient") {
  const auto grad = qk_norm_grad(tensor<4>({1, 1, 1, 2}, {1, 2}), tensor<4>({1, 1, 1, 2}, {0, 0}),
                                 QkNorm::l2, 0.5, {});
  CHECK(values_of(grad.x) == Values{2, 4});
  CHECK(grad.gain.empty());
}

TEST_CASE("rope_grad: turns back what rope turned") {
  const auto x = painted<double, 4>({2, 3, 5, 6}, 7);
  const auto positions = tensor<2>({1, 5}, {0, 1, 2, 30, 400});
  for (const RopeStyle style : {RopeStyle::half, RopeStyle::interleaved}) {
    const auto back = rope_grad(rope(x, positions, 100, style, 4), positions, 100, style, 4);
    for (std::size_t n = 0; n < x.size(); ++n)
      CHECK(std::abs(back.data()[n] - x.data()[n]) <= 4e-16 * 4);
  }
}

TEST_CASE("cache_grad: the past gets its part, the new keys theirs") {
  const auto grad = cache_grad(tensor<4>({1, 2, 3, 1}, {1, 2, 3, 4, 5, 6}), 1);
  CHECK(values_of(grad.past) == Values{1, 4});
  CHECK(values_of(grad.now) == Values{2, 3, 5, 6});
}

TEST_CASE("project_grad: in-out and out-in give transposed weight gradients and the same rest") {
  // x (1,2,3), W (3,2): dy*W^T by hand
  const auto x = tensor<3>({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const auto dy = tensor<3>({1, 2, 2}, {1, 0, 0, 1});
  const Linear<double> in_out{tensor<2>({3, 2}, {1, 2, 3, 4, 5, 6}), WeightOrder::in_out,
                              tensor<1>({2}, {0, 0}), ""};
  const Linear<double> out_in{tensor<2>({2, 3}, {1, 3, 5, 2, 4, 6}), WeightOrder::out_in,
                              tensor<1>({2}, {0, 0}), ""};
  const auto a = project_grad(dy, x, in_out), b = project_grad(dy, x, out_in);
  CHECK(values_of(a.x) == Values{1, 3, 5, 2, 4, 6});
  CHECK(values_of(a.weight) == Values{1, 4, 2, 5, 3, 6});
  CHECK(values_of(a.bias) == Values{1, 1});
  CHECK(values_of(b.x) == values_of(a.x));
  CHECK(values_of(b.weight) == Values{1, 2, 3, 4, 5, 6});
  CHECK(values_of(b.bias) == Values{1, 1});
}

TEST_CASE("dropout_grad: what was kept is doubled at p = 1/2, the rest is 0") {
  auto ones = Tensor<double, 4>::make({1, 2, 8, 8});
  for (double& one : ones.elements()) one = 1;
  const auto grad = dropout_grad(ones, 0.5, 3);
  std::size_t zeros = 0, twos = 0;
  for (const double value : grad.elements()) (value == 0 ? zeros : twos) += 1;
  CHECK(values_of(grad) == values_of(dropout(ones, 0.5, 3, 2, 8)));
  CHECK(zeros > 40);
  CHECK(twos > 40);
}
