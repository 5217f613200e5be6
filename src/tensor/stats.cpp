// Stats: blocks of values, each by two passes, joined as they come.
#include "qkv/tensor/stats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "qkv/tensor/tensor.hpp"
#include "tensor/eight.hpp"
#include "tensor/elements.hpp"
#include "tensor/wide.hpp"

namespace qkv {

namespace {

constexpr std::size_t block_size = 4096;

/// Independent partial sums: nearer to pairwise summation than one running sum, and wide registers
/// hold them: two of eight doubles, so that one addition need not wait for the one before it.
constexpr std::size_t lanes = 16;

struct Lanes {
  Eight part[2];

  QKV_INLINE explicit Lanes(double value) {
    for (Eight& eight : part) eight = Eight{} + value;
  }
  QKV_INLINE double& operator[](std::size_t n) { return reinterpret_cast<double*>(part)[n]; }
  /// The sum, in pairs.
  QKV_INLINE double total() {
    const Eight both = part[0] + part[1];
    return ((both[0] + both[1]) + (both[2] + both[3])) +
           ((both[4] + both[5]) + (both[6] + both[7]));
  }
};

/// Of a block of values: their range and mean. A NaN or an infinity, or a sum that overflows, makes
/// the mean not finite.
struct Range {
  double low, high, mean;
};

template <class T>
QKV_INLINE Range range_in(const T* values, std::size_t count) {
  Lanes low(static_cast<double>(values[0])), high = low, sum(0);
  std::size_t n = 0;
  for (; n + lanes <= count; n += lanes) {
    for (std::size_t half = 0; half < 2; ++half) {
      Eight x;
      load(values + n + 8 * half, x);
      low.part[half] = x < low.part[half] ? x : low.part[half];
      high.part[half] = x > high.part[half] ? x : high.part[half];
      sum.part[half] += x;
    }
  }
  for (std::size_t lane = 0; n < count; ++n, ++lane) {
    const auto x = static_cast<double>(values[n]);
    low[lane] = x < low[lane] ? x : low[lane];
    high[lane] = x > high[lane] ? x : high[lane];
    sum[lane] += x;
  }
  for (std::size_t lane = 1; lane < lanes; ++lane) {
    low[0] = std::min(low[0], low[lane]);
    high[0] = std::max(high[0], high[lane]);
  }
  return {low[0], high[0], sum.total() / static_cast<double>(count)};
}

/// Sums of what is left of a block's values when something near their mean is taken off.
struct Spread {
  double off;      ///< sum of (x - rough)
  double squares;  ///< sum of (x - rough)^2
};

template <class T>
QKV_INLINE Spread spread_in(const T* values, std::size_t count, double rough) {
  Lanes off(0), squares(0);
  std::size_t n = 0;
  for (; n + lanes <= count; n += lanes) {
    for (std::size_t half = 0; half < 2; ++half) {
      Eight x;
      load(values + n + 8 * half, x);
      x -= rough;
      off.part[half] += x;
      squares.part[half] += x * x;
    }
  }
  for (std::size_t lane = 0; n < count; ++n, ++lane) {
    const double x = static_cast<double>(values[n]) - rough;
    off[lane] += x;
    squares[lane] += x * x;
  }
  return {off.total(), squares.total()};
}

QKV_WIDE Range range_of(const float* values, std::size_t count) { return range_in(values, count); }
QKV_WIDE Range range_of(const double* values, std::size_t count) { return range_in(values, count); }
QKV_WIDE Spread spread_of(const float* values, std::size_t count, double rough) {
  return spread_in(values, count, rough);
}
QKV_WIDE Spread spread_of(const double* values, std::size_t count, double rough) {
  return spread_in(values, count, rough);
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
    const Range range = range_of(values.data(), values.size());
    if (std::isfinite(range.mean)) return add_finite(values, range);
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
    if (count > 0) add_finite(kept, range_of(kept.data(), count));
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
  void add_finite(std::span<const T> values, const Range& range) {
    stats_.min = stats_.finite == 0 ? range.low : std::min(stats_.min, range.low);
    stats_.max = stats_.finite == 0 ? range.high : std::max(stats_.max, range.high);
    if (unit_ == 1 && (stats_.max > huge || stats_.min < -huge)) count_in_small_units();
    if (unit_ == 1) return join_block(values, range);
    std::array<double, block_size> small;
    for (std::size_t n = 0; n < values.size(); ++n)
      small[n] = static_cast<double>(values[n]) * unit_;
    const std::span<const double> in_units(small.data(), values.size());
    join_block(in_units, range_of(small.data(), values.size()));
  }

  /// Values that have been brought to units.
  template <class T>
  void join_block(std::span<const T> values, const Range& range) {
    const double rough = std::clamp(range.mean, range.low, range.high);
    const Spread spread = spread_of(values.data(), values.size(), rough);
    const auto n = static_cast<double>(values.size());
    if (stats_.finite == 0) near_mean_ = rough;
    join(n, (rough - near_mean_) + spread.off / n,
         std::max(spread.squares - spread.off * spread.off / n, 0.0));
    stats_.finite += values.size();
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
