// ULP: positions of values in the ordered list of a float type's numbers.
#include "tensor/ulp.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace qkv {

namespace {

/// The steps from 0 to magnitude in a type with `digits` bits of significand whose smallest normal
/// number is 2^least and whose largest is below 2^(most + 1).
std::uint64_t steps_from_zero(double magnitude, int digits, int least, int most) {
  const auto per_binade = std::uint64_t{1} << (digits - 1);
  const std::uint64_t infinity = static_cast<std::uint64_t>(most - least + 2) * per_binade;
  if (magnitude == 0) return 0;
  if (std::isinf(magnitude)) return infinity;
  const int exponent = std::max(std::ilogb(magnitude), least);
  if (exponent > most) return infinity;
  // Between 2^exponent and the next power of two the numbers are 2^(exponent + 1 - digits) apart.
  const double steps = std::nearbyint(std::scalbn(magnitude, digits - 1 - exponent));
  return static_cast<std::uint64_t>(exponent - least) * per_binade +
         static_cast<std::uint64_t>(steps);
}

std::uint64_t steps_from_zero(double magnitude, DType type) {
  switch (type) {
    case DType::float16:
      return steps_from_zero(magnitude, 11, -14, 15);
    case DType::bfloat16:
      return steps_from_zero(magnitude, 8, -126, 127);
    case DType::float32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(magnitude));
    default:
      return std::bit_cast<std::uint64_t>(magnitude);
  }
}

}  // namespace

std::uint64_t ulp_distance(double a, double b, DType type) {
  const std::uint64_t from_a = steps_from_zero(std::abs(a), type);
  const std::uint64_t from_b = steps_from_zero(std::abs(b), type);
  if (std::signbit(a) != std::signbit(b)) return from_a + from_b;
  return from_a > from_b ? from_a - from_b : from_b - from_a;
}

}  // namespace qkv
