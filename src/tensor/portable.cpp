// portable_exp and portable_tanh: the same bits on every CPU.
#include "qkv/tensor/portable.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace qkv {

namespace {

constexpr std::array<double, 15> inverse_factorials = [] {
  std::array<double, 15> inverse{};
  double factorial = 1;  // exact up to 18!
  for (std::size_t n = 0; n < inverse.size(); ++n) {
    if (n > 0) factorial *= static_cast<double>(n);
    inverse[n] = 1 / factorial;
  }
  return inverse;
}();

}  // namespace

double portable_exp(double x) {
  if (!(x >= -708)) return std::isnan(x) ? x : 0;
  if (x > 709.78) return std::numeric_limits<double>::infinity();
  // x = k ln 2 + r, |r| <= ln 2 / 2. The upper part of ln 2 has 32 bits: k times it is exact.
  constexpr double upper = 0x1.62e42feep-1, lower = 0x1.a39ef35793c76p-33;
  const double k = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = (x - k * upper) - k * lower;
  // e^r = 1 + r + r^2/2! + ...: terms up to the fourteenth reach 2^-53 for |r| < 0.35.
  double sum = inverse_factorials.back();
  for (std::size_t n = inverse_factorials.size() - 1; n-- > 0;)
    sum = sum * r + inverse_factorials[n];
  // 2^k in two factors, since 2^1024 is none.
  const auto power = [](std::int64_t exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  };
  const auto exponent = static_cast<std::int64_t>(k);
  return sum * power(exponent / 2) * power(exponent - exponent / 2);
}

double portable_tanh(double x) {
  const double size = std::fabs(x);
  // Near 0 the difference below would lose its digits; the next term is 2/15 x^5.
  if (size < 1e-4) return x - x * x * x / 3;
  const double e = portable_exp(-2 * size);
  return std::copysign((1 - e) / (1 + e), x);
}

}  // namespace qkv
