// float16 and bfloat16: every bit pattern, and every rounding, against arithmetic in double.
#include "qkv/tensor/half.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace qkv;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The value of a format with `fraction` bits of fraction and exponents from 1 - bias, by
/// definition.
double defined(std::uint32_t bits, int fraction, int bias) {
  const std::uint32_t magnitude = bits & 0x7fffu;
  const int exponent = static_cast<int>(magnitude >> fraction);
  const auto rest = static_cast<double>(magnitude & ((1u << fraction) - 1u));
  const double value =
      exponent == 0 ? std::ldexp(rest, 1 - bias - fraction)
                    : std::ldexp(rest + std::ldexp(1.0, fraction), exponent - bias - fraction);
  return (bits & 0x8000u) != 0 ? -value : value;
}

/// Both neighbours of each midpoint between two finite numbers round to the nearer, the midpoint
/// itself to the even one.
template <class ToBits, class ToFloat>
void check_rounding(std::uint32_t largest, ToBits to_bits, ToFloat to_float) {
  std::size_t wrong = 0;
  for (std::uint32_t bits = 0; bits < largest; ++bits) {
    const double low = to_float(static_cast<std::uint16_t>(bits));
    const double high = to_float(static_cast<std::uint16_t>(bits + 1));
    const auto middle = static_cast<float>((low + high) / 2);  // exact: one bit more
    const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    if (to_bits(middle) != even) ++wrong;
    if (to_bits(std::nextafter(middle, 0.0f)) != bits) ++wrong;
    if (to_bits(std::nextafter(middle, infinity)) != bits + 1) ++wrong;
    if (to_bits(-middle) != (even | 0x8000u)) ++wrong;
    if (to_bits(static_cast<float>(low)) != bits) ++wrong;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("half: each finite float16 has the value that IEEE 754 defines") {
  std::size_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    if ((bits & 0x7c00u) == 0x7c00u) continue;
    const double value = float16_to_float(static_cast<std::uint16_t>(bits));
    const double wanted = defined(bits, 10, 15);
    if (value != wanted || std::signbit(value) != std::signbit(wanted)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("half: each finite bfloat16 has the value that its definition gives") {
  std::size_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    if ((bits & 0x7f80u) == 0x7f80u) continue;
    const double value = bfloat16_to_float(static_cast<std::uint16_t>(bits));
    const double wanted = defined(bits, 7, 127);
    if (value != wanted || std::signbit(value) != std::signbit(wanted)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("half: every float rounds to the nearest float16, ties to even") {
  check_rounding(0x7bffu, float_to_float16, float16_to_float);
}

TEST_CASE("half: every float rounds to the nearest bfloat16, ties to even") {
  check_rounding(0x7f7fu, float_to_bfloat16, bfloat16_to_float);
}

TEST_CASE("half: overflow begins half a step beyond the largest number") {
  CHECK(float_to_float16(65504.0f) == 0x7bffu);
  CHECK(float_to_float16(std::nextafter(65520.0f, 0.0f)) == 0x7bffu);
  CHECK(float_to_float16(65520.0f) == 0x7c00u);
  CHECK(float_to_float16(-1e30f) == 0xfc00u);
  CHECK(float_to_bfloat16(std::numeric_limits<float>::max()) == 0x7f80u);
  CHECK(float_to_bfloat16(-0x1.fep127f) == 0xff7fu);
}

TEST_CASE("half: infinities and NaN stay what they are, with their sign") {
  CHECK(float16_to_float(0x7c00u) == infinity);
  CHECK(float16_to_float(0xfc00u) == -infinity);
  CHECK(bfloat16_to_float(0xff80u) == -infinity);
  CHECK(float_to_float16(infinity) == 0x7c00u);
  CHECK(float_to_bfloat16(-infinity) == 0xff80u);
  CHECK(std::isnan(float16_to_float(0x7e00u)));
  CHECK(std::isnan(float16_to_float(0xfc01u)));
  // A NaN whose payload lies only in the bits that are cut off.
  const float quiet = std::bit_cast<float>(0x7f800001u);
  CHECK(std::isnan(float16_to_float(float_to_float16(quiet))));
  CHECK(std::isnan(bfloat16_to_float(float_to_bfloat16(quiet))));
  CHECK(std::isnan(bfloat16_to_float(float_to_bfloat16(std::bit_cast<float>(0xffffffffu)))));
}

TEST_CASE("half: numbers too small for the subnormals become zero with their sign") {
  CHECK(float_to_float16(0x1p-25f) == 0);  // a tie between 0 and 2^-24
  CHECK(float_to_float16(std::nextafter(0x1p-25f, 1.0f)) == 1);
  CHECK(float_to_float16(-0x1p-26f) == 0x8000u);
  CHECK(float_to_float16(0.0f) == 0);
  CHECK(float_to_float16(-0.0f) == 0x8000u);
  CHECK(float_to_float16(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK(float_to_bfloat16(std::numeric_limits<float>::denorm_min()) == 0);
}
