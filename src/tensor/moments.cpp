// Moments: a block of values, in lanes that fill wide registers.
#include "tensor/moments.hpp"

#include <algorithm>

#include "tensor/registers.hpp"
#include "tensor/wide.hpp"

namespace qkv {

namespace {

/// From what is read to what is fetched.
constexpr std::size_t ahead_bytes = 8192;

/// Independent partial sums: nearer to pairwise summation than one running sum, and registers of
/// four doubles hold them, so that one addition need not wait for the one before it.
constexpr std::size_t lanes = 16;

struct Lanes {
  Four part[4];

  QKV_INLINE explicit Lanes(double value) {
    for (Four& four : part) four = Four{} + value;
  }
  QKV_INLINE double& operator[](std::size_t n) { return reinterpret_cast<double*>(part)[n]; }
  /// The sum, in pairs.
  QKV_INLINE double total() {
    const Four low = part[0] + part[2], high = part[1] + part[3];
    return ((low[0] + low[1]) + (low[2] + low[3])) + ((high[0] + high[1]) + (high[2] + high[3]));
  }
};

/// The same lanes with the greatest or least values of a type, which need no more room than it has.
template <class T>
struct Extremes {
  typedef typename RegisterOf<T>::Type Register;
  static constexpr std::size_t width = sizeof(Register) / sizeof(T);
  Register low[lanes / width], high[lanes / width];

  QKV_INLINE explicit Extremes(T value) {
    for (std::size_t n = 0; n < lanes / width; ++n) low[n] = high[n] = Register{} + value;
  }
  QKV_INLINE void add(const T* values) {
    for (std::size_t n = 0; n < lanes / width; ++n) {
      Register x;
      load(values + n * width, x);
      low[n] = x < low[n] ? x : low[n];
      high[n] = x > high[n] ? x : high[n];
    }
  }
  QKV_INLINE void add_one(std::size_t lane, T x) {
    T& least = reinterpret_cast<T*>(low)[lane];
    T& greatest = reinterpret_cast<T*>(high)[lane];
    least = x < least ? x : least;
    greatest = x > greatest ? x : greatest;
  }
  QKV_INLINE T least() {
    const T* all = reinterpret_cast<const T*>(low);
    T least = all[0];
    for (std::size_t lane = 1; lane < lanes; ++lane) least = std::min(least, all[lane]);
    return least;
  }
  QKV_INLINE T greatest() {
    const T* all = reinterpret_cast<const T*>(high);
    T greatest = all[0];
    for (std::size_t lane = 1; lane < lanes; ++lane) greatest = std::max(greatest, all[lane]);
    return greatest;
  }
};

/// The mean, within the range whatever rounding does.
template <class T>
QKV_INLINE double full_mean(const T* values, std::size_t count) {
  Extremes<T> extremes(values[0]);
  Lanes sum(0);
  std::size_t n = 0;
  for (; n + lanes <= count; n += lanes) {
    extremes.add(values + n);
    for (std::size_t quarter = 0; quarter < 4; ++quarter) {
      Four x;
      load(values + n + 4 * quarter, x);
      sum.part[quarter] += x;
    }
  }
  for (std::size_t lane = 0; n < count; ++n, ++lane) {
    extremes.add_one(lane, values[n]);
    sum[lane] += static_cast<double>(values[n]);
  }
  return std::clamp(sum.total() / static_cast<double>(count), static_cast<double>(extremes.least()),
                    static_cast<double>(extremes.greatest()));
}

/// From so many values on, a pass over all of them only to find the mean would take time, and its
/// last digits are lost beside others' anyway.
constexpr std::size_t many = 4096;

/// The mean of a few of the values. If they are n of N, its distance from the mean of all is at
/// most sqrt(N/n) times the spread: the squares about it are at most 1 + N/n times those about the
/// mean.
template <class T>
QKV_INLINE double rough_mean(const T* values) {
  constexpr std::size_t few = 4 * lanes;
  // In pairs, whose sums are exact where values are equal.
  Lanes first(0);
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    const T* from = values + 4 * quarter;
    Four a, b, c, d;
    load(from, a);
    load(from + lanes, b);
    load(from + 2 * lanes, c);
    load(from + 3 * lanes, d);
    first.part[quarter] = (a + b) + (c + d);
  }
  return first.total() / few;
}

template <class T>
QKV_INLINE Moments moments_in(const T* values, std::size_t count) {
  const double rough = count < many ? full_mean(values, count) : rough_mean(values);
  Extremes<T> extremes(values[0]);
  Lanes off(0), squares(0);
  std::size_t n = 0;
  for (; n + lanes <= count; n += lanes) {
    __builtin_prefetch(values + n + ahead_bytes / sizeof(T));
    if constexpr (sizeof(T) == 8) __builtin_prefetch(values + n + 8 + ahead_bytes / sizeof(T));
    extremes.add(values + n);
    for (std::size_t quarter = 0; quarter < 4; ++quarter) {
      Four x;
      load(values + n + 4 * quarter, x);
      x -= rough;
      off.part[quarter] += x;
      squares.part[quarter] += x * x;
    }
  }
  for (std::size_t lane = 0; n < count; ++n, ++lane) {
    extremes.add_one(lane, values[n]);
    const double x = static_cast<double>(values[n]) - rough;
    off[lane] += x;
    squares[lane] += x * x;
  }
  return {static_cast<double>(extremes.least()), static_cast<double>(extremes.greatest()), rough,
          off.total(), squares.total()};
}

QKV_WIDE Moments moments_wide(const float* values, std::size_t count) {
  return moments_in(values, count);
}
QKV_WIDE Moments moments_wide(const double* values, std::size_t count) {
  return moments_in(values, count);
}

}  // namespace

Moments moments_of(std::span<const float> values) {
  return moments_wide(values.data(), values.size());
}
Moments moments_of(std::span<const double> values) {
  return moments_wide(values.data(), values.size());
}

}  // namespace qkv
