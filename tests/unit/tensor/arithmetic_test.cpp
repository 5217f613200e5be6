// Rounding of tensors to float16 and bfloat16: every number of the types, and what lies between.
#include "qkv/tensor/arithmetic.hpp"

#include <sys/mman.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "qkv/tensor/half.hpp"

using namespace qkv;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> rounded_all(Arithmetic arithmetic, std::vector<float> values) {
  round_elements(arithmetic, values);
  return values;
}

/// Each finite number, both neighbours of each midpoint between two, and the midpoint: the nearest,
/// and of two equally near ones the even.
template <class ToFloat>
void check_rounding(Arithmetic arithmetic, std::uint32_t infinite, ToFloat to_float) {
  std::vector<float> values, expected;
  const auto expect = [&](float value, float nearest) {
    for (const float sign : {1.0f, -1.0f}) {
      values.push_back(sign * value);
      expected.push_back(sign * nearest);
    }
  };
  for (std::uint32_t bits = 0; bits + 1 < infinite; ++bits) {
    const float low = to_float(static_cast<std::uint16_t>(bits));
    const float high = to_float(static_cast<std::uint16_t>(bits + 1));
    const auto middle =
        static_cast<float>((static_cast<double>(low) + static_cast<double>(high)) / 2);
    expect(low, low);
    expect(middle, bits % 2 == 0 ? low : high);
    expect(std::nextafter(middle, 0.0f), low);
    expect(std::nextafter(middle, infinity), high);
  }
  const std::vector<float> got = rounded_all(arithmetic, values);
  std::size_t wrong = 0;
  for (std::size_t n = 0; n < got.size(); ++n) {
    const bool same =
        std::bit_cast<std::uint32_t>(got[n]) == std::bit_cast<std::uint32_t>(expected[n]);
    wrong += same ? 0 : 1;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("arithmetic: every element becomes the nearest number of the type, ties to even") {
  check_rounding(Arithmetic::float16, 0x7c00, float16_to_float);
  check_rounding(Arithmetic::bfloat16, 0x7f80, bfloat16_to_float);
}

TEST_CASE("arithmetic: half a step beyond the largest number is infinite, less is not") {
  CHECK(rounded_all(Arithmetic::float16, {65519.996f, 65520, -65520, 1e9f, infinity}) ==
        std::vector<float>{65504, infinity, -infinity, infinity, infinity});
  // 2^128 - 2^120 is the largest bfloat16, steps there are 2^120.
  const float largest = std::ldexp(255.0f, 120), half_step = std::ldexp(511.0f, 119);
  CHECK(
      rounded_all(Arithmetic::bfloat16, {std::nextafter(half_step, 0.0f), half_step, -half_step}) ==
      std::vector<float>{largest, infinity, -infinity});
  CHECK(largest_finite(Arithmetic::float16) == 65504);
  CHECK(largest_finite(Arithmetic::bfloat16) == static_cast<double>(largest));
}

TEST_CASE("arithmetic: every NaN becomes the same one") {
  for (const Arithmetic arithmetic : {Arithmetic::float16, Arithmetic::bfloat16}) {
    for (const std::uint32_t bits : {0x7f800001u, 0xffc00000u, 0xffffffffu, 0x7fc12345u}) {
      const float nan = rounded_all(arithmetic, {std::bit_cast<float>(bits)})[0];
      CHECK(std::bit_cast<std::uint32_t>(nan) == 0x7fc00000u);
    }
  }
}

TEST_CASE("arithmetic: numbers of the type already are not written to, in any length") {
  constexpr std::size_t bytes = 16384;
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  auto* numbers = static_cast<float*>(page);
  for (std::size_t n = 0; n < bytes / sizeof(float); ++n) numbers[n] = -1.5f;
  REQUIRE(mprotect(page, bytes, PROT_READ) == 0);
  for (const std::size_t count : {1u, 1023u, 1024u, 1025u, 4096u}) {
    round_elements(Arithmetic::float16, std::span<float>(numbers, count));
    round_elements(Arithmetic::bfloat16, std::span<float>(numbers, count));
  }
  CHECK(numbers[1024] == -1.5f);
  munmap(page, bytes);
}

TEST_CASE("arithmetic: a rounded tensor is an array of two-byte elements, a native one is shared") {
  auto tensor = Tensor<float, 4>::make({1, 1, 1, 3});
  tensor.data()[0] = 1.5f;
  tensor.data()[1] = -65504;
  tensor.data()[2] = infinity;
  const Array half = as_array(tensor, Arithmetic::float16);
  CHECK(half.dtype == DType::float16);
  CHECK(half.shape == Shape{1, 1, 1, 3});
  CHECK(element(half, 1) == -65504);
  CHECK(element(half, 2) == HUGE_VAL);
  CHECK(as_array(tensor, Arithmetic::bfloat16).dtype == DType::bfloat16);
  CHECK(as_array(tensor, Arithmetic::native).data ==
        reinterpret_cast<const std::byte*>(tensor.data()));
}

TEST_CASE("arithmetic: a double is rounded once, not by way of float") {
  // 1 + 2^-11 lies in the middle of two float16 and goes to the even one, 1; a hair above goes up,
  // though the nearest float is the middle itself. The same for bfloat16 and 1 + 2^-8.
  CHECK(rounded(Arithmetic::float16, 1 + 0x1p-11) == 1);
  CHECK(rounded(Arithmetic::float16, 1 + 0x1p-11 + 0x1p-40) == 1 + 0x1p-10);
  CHECK(rounded(Arithmetic::float16, 1 + 3 * 0x1p-11 - 0x1p-40) == 1 + 0x1p-10);
  CHECK(rounded(Arithmetic::float16, -1 - 0x1p-11 - 0x1p-40) == -1 - 0x1p-10);
  CHECK(rounded(Arithmetic::bfloat16, 1 + 0x1p-8) == 1);
  CHECK(rounded(Arithmetic::bfloat16, 1 + 0x1p-8 + 0x1p-50) == 1 + 0x1p-7);
  CHECK(rounded(Arithmetic::float16, 65520 - 0x1p-30) == 65504);
  CHECK(rounded(Arithmetic::bfloat16, 1e300) == HUGE_VAL);
  CHECK(rounded(Arithmetic::bfloat16, -1e-300) == 0);
  CHECK(std::isnan(rounded(Arithmetic::float16, std::nan(""))));
}
