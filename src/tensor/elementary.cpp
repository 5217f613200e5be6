// Exponentials and logarithms of whole rows, in double, several at a time.
#include "qkv/tensor/elementary.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "tensor/registers.hpp"
#include "tensor/wide.hpp"

namespace qkv {

namespace {

constexpr std::size_t lanes = 8;
typedef std::int64_t EightWords __attribute__((vector_size(64)));

/// e^x = 2^k e^r with x = k ln 2 + r, |r| <= ln 2 / 2, and the series of e^r to the thirteenth
/// power, which is below 2^-52 of it.
QKV_INLINE void exponential(Eight& x) {
  constexpr double to_integer = 0x1.8p52;  // adding it leaves no fraction
  constexpr double upper = 0x1.62e42feep-1, lower = 0x1.a39ef35793c76p-33;  // of ln 2
  const Eight shifted = x * 1.4426950408889634 + to_integer;
  const Eight k = shifted - to_integer;
  const Eight r = (x - k * upper) - k * lower;
  Eight sum = Eight{} + 1 / 6227020800.0;
  for (const double factorial : {479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0,
                                 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0})
    sum = sum * r + 1 / factorial;
  // k stands in the low bits of the shifted number; moved to the exponent's place it is 2^k.
  const Eight power = reinterpret_cast<Eight>((reinterpret_cast<EightWords>(shifted) + 1023) << 52);
  const Eight kept = x >= -708.0 ? sum * power : Eight{};
  x = x == x ? kept : x;
}

/// w*ln(w): ln(2^e m) = e ln 2 + 2 artanh((m - 1)/(m + 1)), m in [sqrt(1/2), sqrt(2)].
QKV_INLINE void w_log_w(Eight& w) {
  constexpr double ln_2 = 0.693147180559945309417;
  const auto bits = reinterpret_cast<EightWords>(w);
  EightWords exponent = (bits >> 52) - 1023;
  auto m = reinterpret_cast<Eight>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  const EightWords high = m > 1.4142135623730951;
  m = high ? m * 0.5 : m;
  exponent -= high;  // true is -1
  const Eight s = (m - 1) / (m + 1), z = s * s;
  Eight sum = Eight{} + 1 / 17.0;
  for (const double odd : {15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0}) sum = sum * z + 1 / odd;
  const Eight logarithm = __builtin_convertvector(exponent, Eight) * ln_2 + 2 * s * sum;
  // The least normal number times its logarithm is as good as 0.
  const Eight nothing = w >= 0 ? Eight{} : Eight{} + std::numeric_limits<double>::quiet_NaN();
  w = w >= std::numeric_limits<double>::min() ? w * logarithm : nothing;
}

QKV_WIDE void exponentials_of(double* x, std::size_t count) {
  std::size_t n = 0;
  for (; n + lanes <= count; n += lanes) {
    Eight some;
    load(x + n, some);
    exponential(some);
    *reinterpret_cast<EightDoubles*>(x + n) = some;
  }
  if (n == count) return;
  std::array<double, lanes> rest{};
  std::copy_n(x + n, count - n, rest.data());
  Eight some;
  load(rest.data(), some);
  exponential(some);
  for (std::size_t i = 0; n < count; ++n, ++i) x[n] = some[i];
}

template <class T>
QKV_INLINE double sum_in(const T* w, std::size_t count) {
  Eight sum{};
  std::size_t n = 0;
  for (; n + lanes <= count; n += lanes) {
    Eight some;
    load(w + n, some);
    w_log_w(some);
    sum += some;
  }
  std::array<T, lanes> rest{};
  std::copy_n(w + n, count - n, rest.data());
  Eight some;
  load(rest.data(), some);
  w_log_w(some);
  sum += some;
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

QKV_WIDE double w_log_w_of(const float* w, std::size_t count) { return sum_in(w, count); }
QKV_WIDE double w_log_w_of(const double* w, std::size_t count) { return sum_in(w, count); }

}  // namespace

void exponentials(std::span<double> x) { exponentials_of(x.data(), x.size()); }
double sum_of_w_log_w(std::span<const float> w) { return w_log_w_of(w.data(), w.size()); }
double sum_of_w_log_w(std::span<const double> w) { return w_log_w_of(w.data(), w.size()); }

}  // namespace qkv
