// portable_exp, portable_tanh and portable_matmul: right, and in one order.
#include "qkv/tensor/portable.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "qkv/tensor/random.hpp"

using namespace qkv;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Known {
  double x, y;
};

bool within_four_epsilons(double got, double want) {
  return std::abs(got - want) <= 4 * 0x1p-52 * std::abs(want);
}

/// By definition: one float accumulator, k rising.
std::vector<float> in_order(std::size_t M, std::size_t N, std::size_t K,
                            const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(M * N);
  for (std::size_t m = 0; m < M; ++m) {
    for (std::size_t n = 0; n < N; ++n) {
      float sum = 0;
      for (std::size_t k = 0; k < K; ++k) sum = sum + a[m * K + k] * b[k * N + n];
      c[m * N + n] = sum;
    }
  }
  return c;
}

std::vector<float> transposed(std::size_t rows, std::size_t columns, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) y[c * rows + r] = x[r * columns + c];
  return y;
}

/// Numbers of float16, as the products need them.
std::vector<float> numbers(std::size_t count, const char* seed) {
  Random random(7, seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  round_elements(Arithmetic::float16, values);
  return values;
}

}  // namespace

TEST_CASE("portable_exp: e^x to a few epsilons, the ends as they should be") {
  // Python's math.exp, correctly rounded here.
  for (const Known& known : {Known{0, 1},
                             {1, 2.718281828459045},
                             {-1, 0.36787944117144233},
                             {10, 22026.465794806718},
                             {-700, 9.85967654375977e-305},
                             {709.7, 1.6549840276802644e+308},
                             {-0.3465, 0.7071588192872713},
                             {88.72, 3.39317637416317e+38}}) {
    INFO("x = " << known.x);
    CHECK(within_four_epsilons(portable_exp(known.x), known.y));
  }
  CHECK(portable_exp(-infinity) == 0);
  CHECK(portable_exp(-800) == 0);
  CHECK(portable_exp(infinity) == infinity);
  CHECK(portable_exp(710) == infinity);
  CHECK(std::isnan(portable_exp(std::nan(""))));
}

TEST_CASE("portable_tanh: tanh x to a few epsilons of what half precision sees") {
  for (const Known& known : {Known{0.5, 0.46211715726000974},
                             {1e-5, 9.999999999666668e-06},
                             {9.9e-5, 9.8999999676567e-05},
                             {1.01e-4, 0.00010099999965656635},
                             {3, 0.9950547536867305},
                             {-1.25, -0.8482836399575129},
                             {20, 1},
                             {infinity, 1},
                             {-infinity, -1},
                             {0, 0}}) {
    INFO("x = " << known.x);
    // Around 1e-4 the digits that 1 - e^-2x loses count: 2^-52 / 1e-4.
    CHECK(std::abs(portable_tanh(known.x) - known.y) <= 0x1p-38 * std::abs(known.y));
  }
  CHECK(std::isnan(portable_tanh(std::nan(""))));
}

TEST_CASE("portable_matmul: one accumulator, k rising, whatever sizes, layouts and threads") {
  for (const std::size_t M : {1u, 3u, 4u, 5u, 127u, 129u}) {
    for (const std::size_t N : {1u, 7u, 8u, 9u, 33u}) {
      for (const std::size_t K : {1u, 2u, 65u}) {
        INFO("M " << M << " N " << N << " K " << K);
        const auto a = numbers(M * K, "a"), b = numbers(K * N, "b");
        const auto at = transposed(M, K, a), bt = transposed(K, N, b);
        const auto want = in_order(M, N, K, a, b);
        for (const std::size_t threads : {1u, 3u}) {
          std::vector<float> c(M * N), d(M * N);
          portable_matmul<float>(M, N, K, {a.data(), K}, {b.data(), N}, c.data(), N, threads);
          portable_matmul<float>(M, N, K, {at.data(), M, Operand::transposed},
                                 {bt.data(), K, Operand::transposed}, d.data(), N, threads);
          CHECK(c == want);
          CHECK(d == want);
        }
      }
    }
  }
}

TEST_CASE("portable_matmul: 0 times NaN is NaN, a product of nothing is zero") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float a[] = {0, 1}, b[] = {nan, 2};
  float c = 5;
  portable_matmul<float>(1, 1, 2, {a, 2}, {b, 1}, &c, 1, 1);
  CHECK(std::isnan(c));
  portable_matmul<float>(1, 1, 0, {a, 2}, {b, 1}, &c, 1, 1);
  CHECK(c == 0);
}
