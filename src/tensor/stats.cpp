// Stats: blocks of values, each in one pass, joined as they come.
#include "qkv/tensor/stats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "qkv/tensor/tensor.hpp"
#include "tensor/elements.hpp"
#include "tensor/registers.hpp"
#include "tensor/wide.hpp"

namespace qkv {

namespace {

constexpr std::size_t block_size = 4096;

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

/// Of a block of values: their range, and sums of what is left when something near their mean is
/// taken off. A NaN or an infinity, or a sum that overflows, makes `off` not finite.
struct Moments {
  double low, high;
  double rough;    ///< near the mean, and equal to it where all values are equal
  double off;      ///< sum of (x - rough)
  double squares;  ///< sum of (x - rough)^2
};

/// The mean of a few of the values. If they are n of N, its distance from the mean of all is at
/// most sqrt(N/n) times the spread: the squares about it are at most 1 + N/n times those about the
/// mean.
template <class T>
QKV_INLINE double rough_mean(const T* values, std::size_t count) {
  constexpr std::size_t few = 4 * lanes;
  if (count < few) return static_cast<double>(values[0]);
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
  const double rough = rough_mean(values, count);
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

QKV_WIDE Moments moments_of(const float* values, std::size_t count) {
  return moments_in(values, count);
}
QKV_WIDE Moments moments_of(const double* values, std::size_t count) {
  return moments_in(values, count);
}

/// Beyond it sums of squares might overflow.
constexpr double huge = 0x1p450;

class Accumulator {
 public:
  /// A block of at most block_size values.
  template <class T>
  void add(std::span<const T> values) {
    if (values.empty()) return;
    stats_.count += values.size();
    const Moments moments = moments_of(values.data(), values.size());
    if (std::isfinite(moments.off)) return add_finite(values, moments);
    std::array<double, block_size> finite;
    std::size_t count = 0;
    for (const T one : values) {
      const auto value = static_cast<double>(one);
      if (std::isfinite(value)) {
        finite[count++] = value;
      } else if (std::isnan(value)) {
        ++stats_.nan;
      } else {
        ++(value > 0 ? stats_.pos_inf : stats_.neg_inf);
      }
    }
    const std::span<const double> kept(finite.data(), count);
    if (count > 0) add_finite(kept, moments_of(kept.data(), count));
  }

  Stats result() const {
    Stats stats = stats_;
    if (stats.finite == 0) {
      stats.min = stats.max = stats.mean = stats.std = std::numeric_limits<double>::quiet_NaN();
      return stats;
    }
    stats.mean = std::clamp((near_mean_ + mean_) / unit_, stats.min, stats.max);
    // No spread exceeds half the range, so rounding must not carry it there (or to infinity).
    stats.std = std::min(std::sqrt(squares_ / static_cast<double>(stats.finite)) / unit_,
                         stats.max / 2 - stats.min / 2);
    return stats;
  }

 private:
  template <class T>
  void add_finite(std::span<const T> values, const Moments& moments) {
    stats_.min = stats_.finite == 0 ? moments.low : std::min(stats_.min, moments.low);
    stats_.max = stats_.finite == 0 ? moments.high : std::max(stats_.max, moments.high);
    if (unit_ == 1 && (stats_.max > huge || stats_.min < -huge)) count_in_small_units();
    if (unit_ == 1) return join_block(values.size(), moments);
    std::array<double, block_size> small;
    for (std::size_t n = 0; n < values.size(); ++n)
      small[n] = static_cast<double>(values[n]) * unit_;
    join_block(values.size(), moments_of(small.data(), values.size()));
  }

  /// The moments of `count` values that have been brought to units.
  void join_block(std::size_t count, const Moments& moments) {
    const auto n = static_cast<double>(count);
    if (stats_.finite == 0) near_mean_ = moments.rough;
    join(n, (moments.rough - near_mean_) + moments.off / n,
         std::max(moments.squares - moments.off * moments.off / n, 0.0));
    stats_.finite += count;
  }

  /// Values near 1e308 (a mask's lowest finite number) would overflow every sum. From the first
  /// such block on, sums are kept in units of 2^600, in which smaller values no longer count.
  void count_in_small_units() {
    unit_ = 0x1p-600;
    near_mean_ *= unit_;
    mean_ *= unit_;
    squares_ *= unit_ * unit_;
  }

  /// The moments of two sets from those of each.
  void join(double n, double mean, double squares) {
    const auto before = static_cast<double>(stats_.finite);
    const double apart = mean - mean_;
    mean_ += apart * (n / (before + n));
    squares_ += squares + apart * apart * (before * n / (before + n));
  }

  Stats stats_ = {};
  double unit_ = 1;       ///< what values are multiplied by before they are summed
  double near_mean_ = 0;  ///< rough mean of the first block: means are kept as distances from it
  double mean_ = 0;       ///< of the finite values so far less near_mean_, in units
  double squares_ = 0;    ///< sum of (x - mean)^2, in units squared
};

/// Values in blocks of the same size whatever they come from, so that equal values give equal
/// stats.
template <class T>
Stats stats_by_block(std::span<const T> values) {
  Accumulator accumulator;
  for (std::size_t first = 0; first < values.size(); first += block_size)
    accumulator.add(values.subspan(first, std::min(block_size, values.size() - first)));
  return accumulator.result();
}

template <class T>
bool lies_as(const Array& array) {
  return array.dtype == dtype_of<T>() && is_plain(array) &&
         reinterpret_cast<std::uintptr_t>(array.data) % alignof(T) == 0;
}

}  // namespace

Stats stats_of(std::span<const float> values) { return stats_by_block(values); }
Stats stats_of(std::span<const double> values) { return stats_by_block(values); }

struct RunningStats::State {
  Accumulator accumulator = {};
  std::array<double, block_size> block = {};
  std::size_t held = 0;  ///< values of a block that is not full

  template <class T>
  void add(std::span<const T> values) {
    for (std::size_t n = 0; n < values.size();) {
      const std::size_t count = std::min(block_size - held, values.size() - n);
      std::copy_n(values.data() + n, count, block.data() + held);
      held += count;
      n += count;
      if (held < block_size) return;
      accumulator.add(std::span<const double>(block));
      held = 0;
    }
  }
};

RunningStats::RunningStats() : state_(std::make_unique<State>()) {}
RunningStats::~RunningStats() = default;
RunningStats::RunningStats(RunningStats&&) noexcept = default;
void RunningStats::add(std::span<const float> values) { state_->add(values); }
void RunningStats::add(std::span<const double> values) { state_->add(values); }

Stats RunningStats::result() const {
  Accumulator all = state_->accumulator;
  if (state_->held > 0) all.add(std::span<const double>(state_->block.data(), state_->held));
  return all.result();
}

Stats stats_of(const Array& array) {
  const std::size_t all = element_count(array.shape);
  if (lies_as<float>(array)) return stats_of({reinterpret_cast<const float*>(array.data), all});
  if (lies_as<double>(array)) return stats_of({reinterpret_cast<const double*>(array.data), all});
  const Elements elements(array);
  Accumulator accumulator;
  std::array<double, block_size> block;
  for (std::size_t first = 0; first < all; first += block_size) {
    const std::size_t size = std::min(block_size, all - first);
    elements.copy(first, size, block.data());
    accumulator.add(std::span<const double>(block.data(), size));
  }
  return accumulator.result();
}

}  // namespace qkv
