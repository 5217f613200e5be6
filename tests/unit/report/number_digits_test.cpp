// Digits: shortest decimals by type, against NumPy's scalars and arithmetic on paper.
#include "report/number_digits.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace qkv;

TEST_CASE("scalar_text: each float type has its own shortest digits") {
  CHECK(scalar_text(0.1, DType::float64) == "0.1");
  CHECK(scalar_text(static_cast<double>(0.1f), DType::float32) == "0.1");
  CHECK(scalar_text(static_cast<double>(0.1f), DType::float64) == "0.10000000149011612");
  CHECK(scalar_text(0.0999755859375, DType::float16) == "0.1");  // the float16 nearest to 0.1
  CHECK(scalar_text(0.10009765625, DType::bfloat16) == "0.1");   // the bfloat16 nearest to 0.1
  CHECK(scalar_text(3.140625, DType::bfloat16) == "3.14");       // neighbours 3.125 and 3.15625
}

TEST_CASE("scalar_text: a power of two may need the decimal above the nearest") {
  // float16 2^-6 = 0.015625 lies 2^-17 below its upper and 2^-18 above its lower boundary:
  // 0.01562 is off by 5e-06 > 2^-18, 0.01563 by 5e-06 < 2^-17.
  CHECK(scalar_text(0.015625, DType::float16) == "0.01563");
}

TEST_CASE("scalar_text: exponents below 1e-4 and from 1e16, two digits at least") {
  CHECK(scalar_text(1e-4, DType::float64) == "0.0001");
  CHECK(scalar_text(9.9e-5, DType::float64) == "9.9e-05");
  CHECK(scalar_text(1e15, DType::float64) == "1000000000000000.0");
  CHECK(scalar_text(1e16, DType::float64) == "1e+16");
  CHECK(scalar_text(5e-324, DType::float64) == "5e-324");
  CHECK(scalar_text(65504, DType::float16) == "65500.0");
}

TEST_CASE("scalar_text: zeros, non-finite numbers, integers and truth values") {
  CHECK(scalar_text(0.0, DType::float32) == "0.0");
  CHECK(scalar_text(-0.0, DType::float32) == "-0.0");
  CHECK(scalar_text(std::nan(""), DType::float32) == "nan");
  CHECK(scalar_text(-INFINITY, DType::float16) == "-inf");
  CHECK(scalar_text(-12, DType::int8) == "-12");
  CHECK(scalar_text(1, DType::boolean) == "True");
  CHECK(scalar_text(0, DType::boolean) == "False");
}

TEST_CASE("positional: the cap rounds the exact value, half to even, and drops zeros") {
  CHECK(positional(0.125, DType::float64, 2, WholePart::exact) == "0.12");
  CHECK(positional(0.375, DType::float64, 2, WholePart::exact) == "0.38");
  CHECK(positional(0.30004, DType::float64, 4, WholePart::exact) == "0.3");
  CHECK(positional(2.5, DType::float64, 0, WholePart::exact) == "2.");
  CHECK(positional(65504, DType::float16, 8, WholePart::exact) == "65504.");
  CHECK(positional(65504, DType::float16, 8, WholePart::shortest) == "65500.");
}

TEST_CASE("scientific: digits beyond the shortest are the exact ones") {
  const auto [significand, exponent] = scientific(0.0999755859375, DType::float16, 3, 3);
  CHECK(significand == "9.998");
  CHECK(exponent == "-02");
}
