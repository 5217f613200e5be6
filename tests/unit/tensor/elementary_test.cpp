// Exponentials and logarithms of rows, against long double.
#include "qkv/tensor/elementary.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace qkv;

TEST_CASE("exponentials: within two units in the last place from 0 down to where they are 0") {
  std::vector<double> x;
  for (int n = 0; n < 20011; ++n) x.push_back(-708.0 * n * n / 20010.0 / 20010.0);
  std::vector<double> got = x;
  exponentials(got);
  double worst = 0;
  for (std::size_t n = 0; n < x.size(); ++n) {
    const long double right = std::exp(static_cast<long double>(x[n]));
    worst = std::max(worst, static_cast<double>(std::abs(got[n] - right) / right));
  }
  CHECK(worst < 2 * 0x1p-52);
  CHECK(got[0] == 1);
}

TEST_CASE("exponentials: minus infinity and what is below the least give 0, NaN stays") {
  std::vector<double> x = {-HUGE_VAL, -709, -1e300, NAN, 0, -1, -2, -3, -4, -HUGE_VAL, NAN};
  exponentials(x);
  CHECK(x[0] == 0);
  CHECK(x[1] == 0);
  CHECK(x[2] == 0);
  CHECK(std::isnan(x[3]));
  CHECK(x[4] == 1);
  CHECK(x[8] == Approx(0.018315638888734179));
  CHECK(x[9] == 0);
  CHECK(std::isnan(x[10]));
}

TEST_CASE("w*ln(w): sums of every length, with zeros that count nothing") {
  std::vector<float> w;
  for (std::size_t count = 0; count < 40; ++count) {
    long double right = 0;
    for (const float weight : w)
      right += weight == 0
                   ? 0
                   : static_cast<long double>(weight) * std::log(static_cast<long double>(weight));
    CHECK(sum_of_w_log_w(std::span<const float>(w)) ==
          Approx(static_cast<double>(right)).epsilon(1e-12));
    w.push_back(count % 5 == 2 ? 0.0F : std::exp(-3 * static_cast<float>(count) / 10));
  }
  const std::vector<double> halves(4, 0.25);
  CHECK(sum_of_w_log_w(std::span<const double>(halves)) == Approx(-std::log(4.0)).epsilon(1e-14));
}

TEST_CASE("w*ln(w): a negative weight or a NaN gives NaN, the least numbers nothing") {
  CHECK(std::isnan(sum_of_w_log_w(std::vector<float>{0.5F, -0.5F})));
  CHECK(std::isnan(sum_of_w_log_w(std::vector<float>{0.5F, NAN})));
  CHECK(sum_of_w_log_w(std::vector<double>{0x1p-1074, 1.0}) == 0);
}
