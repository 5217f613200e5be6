// Layer norm, RMS norm, gain and activations, by hand and from tables.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "qkv/block/activation.hpp"
#include "qkv/block/gain.hpp"
#include "qkv/block/layer_norm.hpp"
#include "qkv/block/rms_norm.hpp"
#include "support/arrays.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

template <class T = double>
Tensor<T, 3> rows_of(const Shape& shape, const std::vector<double>& numbers) {
  return as_rank<T, 3>(array_of(shape, numbers).array);
}

template <class T>
std::string departs(const Tensor<T, 3>& got, const std::vector<double>& want, double limit) {
  return departure(as_array(got), array_of(got.shape(), want).array, limit);
}

const double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("layer norm: mean 0 and variance v/(v + eps), the variance divided by E") {
  // 1 2 3 6: mean 3, variance (4 + 1 + 0 + 9)/4 = 3.5; with eps 0.5 the divisor is 2.
  const auto x = rows_of({1, 1, 4}, {1, 2, 3, 6});
  CHECK(departs(layer_norm(x, 0.5), {-1, -0.5, 0, 1.5}, 1e-15) == "");
}

TEST_CASE("layer norm: a row of equal numbers gives zeros, and a NaN takes its own row only") {
  const auto y = layer_norm(rows_of({1, 3, 2}, {7, 7, not_a_number, 1, 1, 3}), 1e-5);
  CHECK(y(0, 0, 0) == 0);
  CHECK(y(0, 0, 1) == 0);
  CHECK(std::isnan(y(0, 1, 0)));
  CHECK(std::isnan(y(0, 1, 1)));
  CHECK(std::isfinite(y(0, 2, 0)));
}

TEST_CASE("layer norm: a mean far from zero does not spoil the variance") {
  // 2^26 + (0, 2, 4, 6): exact in double, and in float where steps are 8 wide all four would be
  // one.
  const double far = 0x1p26;
  const auto x = rows_of({1, 1, 4}, {far, far + 2, far + 4, far + 6});
  const double deviation = std::sqrt(5.0);
  CHECK(departs(layer_norm(x, 0), {-3 / deviation, -1 / deviation, 1 / deviation, 3 / deviation},
                1e-15) == "");
}

TEST_CASE("RMS norm: mean square s/(s + eps), nothing is taken off") {
  // 1 -1 3 -3: mean square 5; with eps 4 the divisor is 3.
  const auto x = rows_of({1, 2, 4}, {1, -1, 3, -3, 0, 0, 0, 0});
  CHECK(departs(rms_norm(x, 4), {1. / 3, -1. / 3, 1, -1, 0, 0, 0, 0}, 1e-15) == "");
}

TEST_CASE("gain: each channel has its own gain and bias, and none leaves the rows as they are") {
  const auto y = rows_of({1, 2, 2}, {1, -1, 2, 3});
  const NormWeights<double> weights{.gain = as_rank<double, 1>(array_of({2}, {10, 100}).array),
                                    .bias = as_rank<double, 1>(array_of({2}, {1, 2}).array)};
  CHECK(departs(with_gain(y, weights), {11, -98, 21, 302}, 0) == "");
  CHECK(departs(with_gain(y, {}), {1, -1, 2, 3}, 0) == "");
}

TEST_CASE("activation: the values of torch 1.13 in float64") {
  // torch.nn.functional.relu, gelu, gelu(approximate='tanh') and silu at -3, -1, 0, 0.5, 2
  struct Row {
    Activation activation;
    std::vector<double> want;
  };
  const Row rows[] = {
      {Activation::relu, {0, 0, 0, 0.5, 2}},
      {Activation::gelu,
       {-0.00404969409489031, -0.15865525393145702, 0.0, 0.34573123063700656, 1.9544997361036416}},
      {Activation::gelu_tanh,
       {-0.0036373920817729943, -0.15880800939172324, 0.0, 0.34571400982514394, 1.954597694087775}},
      {Activation::silu,
       {-0.14227761953270035, -0.2689414213699951, 0.0, 0.3112296656009273, 1.7615941559557646}}};
  const auto a = rows_of({1, 1, 5}, {-3, -1, 0, 0.5, 2});
  for (const Row& row : rows) CHECK(departs(activate(a, row.activation), row.want, 1e-15) == "");
}

TEST_CASE("activation: NaN stays NaN, and far from zero nothing overflows") {
  for (const Activation activation :
       {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
    CHECK(std::isnan(activated(not_a_number, activation)));
    CHECK(activated(1e4, activation) == 1e4);
    CHECK(activated(-1e4, activation) == 0);
  }
}
