// stats_of(), histogram_of(): against exact fractions and numpy.histogram.
#include "qkv/tensor/stats.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "support/hex_array.hpp"
#include "support/painted.hpp"

using namespace qkv;
using qkv::test::byte_swapped;
using qkv::test::column_major;
using qkv::test::dtype_named;
using qkv::test::hex_array;
using qkv::test::painted;
using qkv::test::shape_from;

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

struct Case {
  std::string line;
  Array array;
  Stats expected;
};

double next_number(std::istream& fields) {
  std::string word;
  fields >> word;
  return std::strtod(word.c_str(), nullptr);
}

std::vector<Case> golden_cases() {
  std::ifstream file(QKV_TEST_DATA "/report/stats.txt");
  std::vector<Case> cases;
  Case next;
  std::string hex;
  while (std::getline(file, next.line) && std::getline(file, hex)) {
    std::istringstream fields(next.line);
    std::string word, dtype, shape;
    fields >> word >> dtype >> shape;
    if (word != "stats") continue;
    Stats& stats = next.expected;
    fields >> stats.finite >> stats.nan >> stats.pos_inf >> stats.neg_inf;
    for (double* number : {&stats.min, &stats.max, &stats.mean, &stats.std})
      *number = next_number(fields);
    next.array = hex_array(dtype_named(dtype), shape_from(shape), hex);
    stats.count = element_count(next.array.shape);
    cases.push_back(next);
  }
  return cases;
}

/// Equal, or both NaN.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool identical(const Stats& a, const Stats& b) {
  return a.count == b.count && a.finite == b.finite && a.nan == b.nan && a.pos_inf == b.pos_inf &&
         a.neg_inf == b.neg_inf && same(a.min, b.min) && same(a.max, b.max) &&
         same(a.mean, b.mean) && same(a.std, b.std);
}

}  // namespace

TEST_CASE("stats: range, mean and spread of every dtype are the exact ones, rounded") {
  const auto cases = golden_cases();
  REQUIRE(cases.size() > 70);
  for (const Case& next : cases) {
    INFO(next.line);
    const Stats stats = stats_of(next.array);
    CHECK(stats.count == next.expected.count);
    CHECK(stats.finite == next.expected.finite);
    CHECK(stats.nan == next.expected.nan);
    CHECK(stats.pos_inf == next.expected.pos_inf);
    CHECK(stats.neg_inf == next.expected.neg_inf);
    CHECK(same(stats.min, next.expected.min));
    CHECK(same(stats.max, next.expected.max));
    if (next.expected.finite == 0) {
      CHECK(std::isnan(stats.mean));
      CHECK(std::isnan(stats.std));
      continue;
    }
    // A sum in double of n values is off by less than n*eps*max|x|; lanes and blocks keep n below
    // 16 here. The deviations are small numbers already, so std is off by a part of itself.
    const double largest = std::max(std::abs(stats.min), std::abs(stats.max));
    CHECK(std::abs(stats.mean - next.expected.mean) <= 16 * eps * largest);
    CHECK(std::abs(stats.std - next.expected.std) <= 1e-12 * next.expected.std);
  }
}

TEST_CASE("stats: a mean of 1e8 does not drown noise of 1e-3") {
  // x = 1e8 + m/1024, m in -3..3 in turn: exact in double, variance of m is 4.
  std::vector<double> values(7 * 3000);
  for (std::size_t n = 0; n < values.size(); ++n)
    values[n] = 1e8 + (static_cast<double>(n % 7) - 3) / 1024;
  const Stats stats = stats_of(std::span<const double>(values));
  CHECK(stats.mean == 1e8);
  CHECK(std::abs(stats.std - 2.0 / 1024) <= 1e-12 * 2.0 / 1024);
}

TEST_CASE("stats: a block that begins far from its mean has the exact one and its spread") {
  // 64 of 1e6, then 1 and -1 in turn: mean 64e6/4096, and the spread from exact fractions.
  std::vector<float> values(64, 1e6F);
  for (int n = 0; n < 2016; ++n) values.insert(values.end(), {1, -1});
  const Stats stats = stats_of(std::span<const float>(values));
  CHECK(stats.mean == 15625);
  CHECK(stats.std == Approx(124019.59271012131).epsilon(4 * eps));
}

TEST_CASE("stats: a constant tensor has that mean and a spread of exactly 0") {
  const std::vector<float> values(10001, 0.1f);
  const Stats stats = stats_of(std::span<const float>(values));
  CHECK(stats.mean == static_cast<double>(0.1f));
  CHECK(stats.std == 0);
}

TEST_CASE("stats: no finite value leaves min, max, mean and std NaN") {
  const std::vector<double> values{std::nan(""), INFINITY, -INFINITY, INFINITY};
  const Stats stats = stats_of(std::span<const double>(values));
  CHECK(stats.count == 4);
  CHECK(stats.finite == 0);
  CHECK(stats.nan == 1);
  CHECK(stats.pos_inf == 2);
  CHECK(stats.neg_inf == 1);
  for (const double number : {stats.min, stats.max, stats.mean, stats.std})
    CHECK(std::isnan(number));
}

TEST_CASE("stats: one NaN among numbers is counted and left out") {
  const std::vector<float> values{1, std::nanf(""), 3};
  const Stats stats = stats_of(std::span<const float>(values));
  CHECK(stats.nan == 1);
  CHECK(stats.finite == 2);
  CHECK(stats.mean == 2);
  CHECK(stats.std == 1);
}

TEST_CASE(
    "stats: equal values give equal bits, whatever dtype, byte order or stride they come in") {
  const auto doubles = painted<double, 3>({13, 29, 23}, 97);  // blocks end inside rows
  auto floats = Tensor<float, 3>::make({13, 29, 23});
  std::copy_n(doubles.data(), doubles.size(), floats.data());
  const Stats stats = stats_of(doubles.elements());
  CHECK(identical(stats_of(floats.elements()), stats));
  for (const Array& array : {as_array(doubles), as_array(floats)}) {
    CHECK(identical(stats_of(array), stats));
    CHECK(identical(stats_of(byte_swapped(array)), stats));
    CHECK(identical(stats_of(column_major(array)), stats));
    CHECK(identical(stats_of(byte_swapped(column_major(array))), stats));
  }
}

TEST_CASE("stats: block sizes minus one, exact and plus one miss no element") {
  for (const std::size_t count : {1u, 7u, 8u, 9u, 4095u, 4096u, 4097u, 8192u, 8193u}) {
    std::vector<double> values(count, 0.0);
    values.back() = static_cast<double>(count);
    const Stats stats = stats_of(std::span<const double>(values));
    CHECK(stats.count == count);
    CHECK(stats.max == static_cast<double>(count));
    CHECK(std::abs(stats.mean - 1) <= 4 * eps);
  }
}

TEST_CASE("stats: values that come in pieces have the stats of all at once, to the last bit") {
  std::vector<float> values(10007);
  for (std::size_t n = 0; n < values.size(); ++n)
    values[n] = std::sin(static_cast<float>(n)) * (n % 13 == 0 ? 1e6F : 1);
  values[5000] = HUGE_VALF;
  RunningStats running;
  const std::span<const float> all(values);
  std::size_t first = 0;
  for (const std::size_t count : {1UL, 4095UL, 4097UL, 0UL, 1814UL}) {
    running.add(all.subspan(first, count));
    first += count;
  }
  REQUIRE(first == values.size());
  const Stats got = running.result(), expected = stats_of(all);
  CHECK(got.count == expected.count);
  CHECK(got.mean == expected.mean);
  CHECK(got.std == expected.std);
  CHECK(got.min == expected.min);
  CHECK(got.max == expected.max);
  CHECK(got.pos_inf == 1);
}

TEST_CASE("histogram: counts and edges are those of numpy.histogram over the finite values") {
  std::ifstream file(QKV_TEST_DATA "/report/stats.txt");
  std::string line, hex;
  std::size_t cases = 0;
  while (std::getline(file, line) && std::getline(file, hex)) {
    std::istringstream fields(line);
    std::string word, dtype, shape;
    std::size_t bins = 0;
    fields >> word >> dtype >> shape >> bins;
    if (word != "histogram") continue;
    INFO(line);
    ++cases;
    const Array array = hex_array(dtype_named(dtype), shape_from(shape), hex);
    const Stats stats = stats_of(array);
    const auto counts = histogram_of(array, stats, bins);
    const auto edges = histogram_edges(stats, bins);
    REQUIRE(counts.size() == bins);
    REQUIRE(edges.size() == bins + 1);
    for (const std::size_t count : counts) CHECK(static_cast<double>(count) == next_number(fields));
    for (const double edge : edges) CHECK(std::abs(edge - next_number(fields)) <= 4 * eps * 13);
  }
  CHECK(cases == 16);
}

TEST_CASE("histogram: no finite value gives no edges and nothing counted") {
  const std::vector<float> nan(3, std::nanf(""));
  const auto tensor = Tensor<float, 1>::over({3}, const_cast<float*>(nan.data()), nullptr);
  const Array array = as_array(tensor);
  CHECK(histogram_edges(stats_of(array), 4).empty());
  CHECK(histogram_of(array, stats_of(array), 4) == std::vector<std::size_t>(4, 0));
}
