// Arithmetic: rounding to float16 and bfloat16, many elements at a time.
#include "qkv/tensor/arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "qkv/tensor/half.hpp"

namespace qkv {

namespace {

constexpr std::uint32_t sign_bit = 0x80000000u, infinity = 0x7f800000u, quiet_nan = 0x7fc00000u;

// Both without a branch: compilers turn the loops over them into vector instructions.

float to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t size = bits & ~sign_bit, sign = bits & sign_bit;
  const std::uint32_t normal = (size + 0xfffu + ((size >> 13) & 1u)) & ~0x1fffu;
  // Below 2^-14 the last bit is 2^-24, that of a float in [0.5,1): adding 0.5 rounds there.
  const auto subnormal = std::bit_cast<std::uint32_t>((std::bit_cast<float>(size) + 0.5f) - 0.5f);
  std::uint32_t nearest = size < 0x38800000u ? subnormal : normal;
  nearest = size >= 0x477ff000u ? infinity : nearest;  // 65520 and up
  nearest |= sign;
  return std::bit_cast<float>(size > infinity ? quiet_nan : nearest);
}

float to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
  return std::bit_cast<float>((bits & ~sign_bit) > infinity ? quiet_nan : nearest);
}

float narrowed(float value) { return value; }

/// The float at or towards zero from a double, its last bit set where the two differ: rounded once
/// more, it goes where the double would have gone.
float narrowed(double value) {
  const auto single = static_cast<float>(value);
  const auto wide = static_cast<double>(single);
  if (wide == value || !std::isfinite(value)) return single;
  const auto bits = std::bit_cast<std::uint32_t>(single);
  return std::bit_cast<float>((std::fabs(wide) > std::fabs(value) ? bits - 1 : bits) | 1u);
}

template <class T, class Round>
void round_each(std::span<T> elements, Round round) {
  constexpr std::size_t block = 1024;
  T nearest[block];
  for (std::size_t first = 0; first < elements.size(); first += block) {
    const std::span<T> part = elements.subspan(first, std::min(block, elements.size() - first));
    for (std::size_t n = 0; n < part.size(); ++n)
      nearest[n] = static_cast<T>(round(narrowed(part[n])));
    if (std::memcmp(nearest, part.data(), part.size_bytes()) != 0)
      std::memcpy(part.data(), nearest, part.size_bytes());
  }
}

template <class T>
void round_all(Arithmetic arithmetic, std::span<T> elements) {
  if (arithmetic == Arithmetic::float16) round_each(elements, to_float16);
  if (arithmetic == Arithmetic::bfloat16) round_each(elements, to_bfloat16);
}

}  // namespace

DType dtype_of(Arithmetic arithmetic, DType native) {
  switch (arithmetic) {
    case Arithmetic::float16:
      return DType::float16;
    case Arithmetic::bfloat16:
      return DType::bfloat16;
    case Arithmetic::native:
      break;
  }
  return native;
}

double largest_finite(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::float16:
      return 65504;
    case Arithmetic::bfloat16:
      return static_cast<double>(bfloat16_to_float(0x7f7f));
    case Arithmetic::native:
      break;
  }
  return static_cast<double>(std::numeric_limits<float>::max());
}

void round_elements(Arithmetic arithmetic, std::span<float> elements) {
  round_all(arithmetic, elements);
}

void round_elements(Arithmetic arithmetic, std::span<double> elements) {
  round_all(arithmetic, elements);
}

double rounded(Arithmetic arithmetic, double value) {
  round_elements(arithmetic, std::span<double>(&value, 1));
  return value;
}

template <class T, std::size_t Rank>
Array as_array(const Tensor<T, Rank>& tensor, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::native) return as_array(tensor);
  const auto memory = allocate_bytes(tensor.size() * sizeof(std::uint16_t));
  std::ranges::transform(tensor.elements(), reinterpret_cast<std::uint16_t*>(memory.get()),
                         [&](T value) {
                           const auto number = static_cast<float>(value);
                           return arithmetic == Arithmetic::float16 ? float_to_float16(number)
                                                                    : float_to_bfloat16(number);
                         });
  return row_major_array(dtype_of(arithmetic, dtype_of<T>()), tensor.shape(), memory.get(), memory);
}

template Array as_array(const Tensor<float, 1>&, Arithmetic);
template Array as_array(const Tensor<double, 1>&, Arithmetic);
template Array as_array(const Tensor<float, 3>&, Arithmetic);
template Array as_array(const Tensor<double, 3>&, Arithmetic);
template Array as_array(const Tensor<float, 4>&, Arithmetic);
template Array as_array(const Tensor<double, 4>&, Arithmetic);

}  // namespace qkv
