// compare(): against torch.isclose and distances of bit patterns.
#include "qkv/tensor/compare.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "qkv/base/error.hpp"
#include "qkv/tensor/tensor.hpp"
#include "support/hex_array.hpp"

using namespace qkv;
using qkv::test::byte_swapped;
using qkv::test::column_major;
using qkv::test::dtype_named;
using qkv::test::hex_array;

namespace {

struct Case {
  std::string line;
  Array a, b;
  Tolerance tolerance;
  Comparison expected;
};

double next_number(std::istream& fields) {
  std::string word;
  fields >> word;
  return std::strtod(word.c_str(), nullptr);
}

std::vector<Case> golden_cases() {
  std::ifstream file(QKV_TEST_DATA "/report/compare.txt");
  std::vector<Case> cases;
  Case next;
  while (std::getline(file, next.line)) {
    std::istringstream fields(next.line);
    std::string word, type_a, type_b, hex_a, hex_b;
    fields >> word >> type_a >> type_b;
    if (word != "compare") continue;
    Comparison& expected = next.expected;
    fields >> expected.count;
    next.tolerance.rtol = next_number(fields);
    next.tolerance.atol = next_number(fields);
    fields >> next.tolerance.equal_nan >> expected.differing >> expected.non_finite_differing >>
        expected.first_at;
    expected.finite_max_abs = next_number(fields);
    fields >> expected.finite_max_abs_at;
    expected.max_rel = next_number(fields);
    fields >> expected.max_rel_at >> expected.max_ulp;
    std::getline(file, hex_a);
    std::getline(file, hex_b);
    next.a = hex_array(dtype_named(type_a), {expected.count}, hex_a);
    next.b = hex_array(dtype_named(type_b), {expected.count}, hex_b);
    cases.push_back(next);
  }
  return cases;
}

Array doubles(const std::vector<double>& values) {
  auto tensor = Tensor<double, 1>::make({values.size()});
  std::copy(values.begin(), values.end(), tensor.data());
  return as_array(tensor);
}

}  // namespace

TEST_CASE("compare: counts, worst elements and ULPs agree with PyTorch and with the bit patterns") {
  const auto cases = golden_cases();
  REQUIRE(cases.size() > 100);
  for (const Case& next : cases) {
    INFO(next.line);
    const Comparison found = compare(next.a, next.b, next.tolerance);
    const Comparison& expected = next.expected;
    CHECK(found.count == expected.count);
    CHECK(found.differing == expected.differing);
    CHECK(found.non_finite_differing == expected.non_finite_differing);
    CHECK(found.first_at == expected.first_at);
    CHECK(found.finite_max_abs == expected.finite_max_abs);
    CHECK(found.finite_max_abs_at == expected.finite_max_abs_at);
    CHECK(found.max_rel == expected.max_rel);
    CHECK(found.max_rel_at == expected.max_rel_at);
    CHECK(found.max_ulp == expected.max_ulp);
  }
}

TEST_CASE("default_tolerance: is torch.testing's, the looser where types are mixed") {
  std::ifstream file(QKV_TEST_DATA "/report/compare.txt");
  std::string line;
  std::size_t pairs = 0;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string word, type_a, type_b;
    fields >> word >> type_a >> type_b;
    if (word != "tolerance") continue;
    INFO(line);
    ++pairs;
    const Tolerance tolerance = default_tolerance(dtype_named(type_a), dtype_named(type_b));
    CHECK(tolerance.rtol == next_number(fields));
    CHECK(tolerance.atol == next_number(fields));
    CHECK_FALSE(tolerance.equal_nan);
  }
  CHECK(pairs == 100);
}

TEST_CASE(
    "compare: the second tensor is the expected one, whose size the tolerance is relative to") {
  const Tolerance tenth{.rtol = 0.1};
  CHECK(compare(doubles({1.0}), doubles({1.11}), tenth).differing == 0);  // 0.11 <= 0.111
  CHECK(compare(doubles({1.11}), doubles({1.0}), tenth).differing == 1);  // 0.11 > 0.1
}

TEST_CASE("compare: a NaN is no limit's friend, and the finite pairs are still measured") {
  const double nan = std::nan("");
  const Comparison found = compare(doubles({1, nan, 3, 4}), doubles({1, 2, 3.5, 4}), {});
  CHECK(found.differing == 2);
  CHECK(found.non_finite_differing == 1);
  CHECK_FALSE(found.max_abs <= 1e300);
  CHECK(found.max_abs_at == 1);
  CHECK(found.finite_max_abs == 0.5);
  CHECK(found.finite_max_abs_at == 2);
  CHECK(found.max_ulp == no_ulp);
}

TEST_CASE("compare: an infinity equals itself only, under any tolerance") {
  const Tolerance loose{.rtol = 10, .atol = 10};
  CHECK(compare(doubles({INFINITY}), doubles({INFINITY}), {}).differing == 0);
  CHECK(compare(doubles({INFINITY}), doubles({-INFINITY}), loose).differing == 1);
  CHECK(compare(doubles({1}), doubles({INFINITY}), loose).differing == 1);
}

TEST_CASE("compare: without elements nothing differs") {
  const Comparison found = compare(doubles({}), doubles({}), {});
  CHECK(found.count == 0);
  CHECK(found.differing == 0);
  CHECK(found.max_abs == 0);
}

TEST_CASE("compare: byte order and memory layout change nothing, and positions stay row-major") {
  auto a = Tensor<double, 3>::make({7, 31, 29});  // more than one block, ending inside a row
  auto b = Tensor<double, 3>::make({7, 31, 29});
  for (std::size_t n = 0; n < a.size(); ++n) a.data()[n] = b.data()[n] = static_cast<double>(n);
  b(2, 0, 5) += 1;
  b(6, 30, 1) += 4;
  const std::size_t first = 2 * 31 * 29 + 5, worst = 6 * 31 * 29 + 30 * 29 + 1;
  const Array views[] = {as_array(a), byte_swapped(as_array(a)), column_major(as_array(a))};
  for (const Array& view : views) {
    const Comparison found = compare(view, column_major(as_array(b)), {});
    CHECK(found.count == a.size());
    CHECK(found.differing == 2);
    CHECK(found.first_at == first);
    CHECK(found.max_abs_at == worst);
    CHECK(found.max_abs == 4);
  }
}

TEST_CASE("compare: shapes that differ are an error that names both") {
  const Array four = doubles({1, 2, 3, 4});
  try {
    compare(four, reshaped(four, {2, 2}), {});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          "shapes differ: expected (2,2) as the second tensor has, got (4)");
  }
}
