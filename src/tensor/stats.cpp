// Stats: blocks of values, each by two passes, joined as they come.
#include "qkv/tensor/stats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "tensor/elements.hpp"
#include "tensor/wide.hpp"

namespace qkv {

namespace {

constexpr std::size_t block_size = 4096;

/// Independent partial sums: nearer to pairwise summation than one running sum, and wide registers
/// can hold them.
constexpr std::size_t lanes = 8;
using Lanes = std::array<double, lanes>;

QKV_INLINE double total(const Lanes& lane) {
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/// sum over n of term(values[n])
template <class Term>
QKV_INLINE double sum_of(std::span<const double> values, Term term) {
  Lanes lane{};
  std::size_t n = 0;
  for (; n + lanes <= values.size(); n += lanes) {
    for (std::size_t i = 0; i < lanes; ++i) lane[i] += term(values[n + i]);
  }
  for (std::size_t i = 0; n < values.size(); ++n, ++i) lane[i] += term(values[n]);
  return total(lane);
}

/// A product with 0 is 0 but for NaN and infinities.
QKV_WIDE bool all_finite(const double* from, std::size_t count) {
  const std::span<const double> values(from, count);
  return sum_of(values, [](double x) { return x * 0.0; }) == 0;
}

/// Least and greatest of finite values, at least one.
QKV_INLINE std::pair<double, double> range_of(std::span<const double> values) {
  Lanes low, high;
  low.fill(values[0]);
  high.fill(values[0]);
  std::size_t n = 0;
  for (; n + lanes <= values.size(); n += lanes) {
    for (std::size_t i = 0; i < lanes; ++i) {
      low[i] = values[n + i] < low[i] ? values[n + i] : low[i];
      high[i] = values[n + i] > high[i] ? values[n + i] : high[i];
    }
  }
  for (; n < values.size(); ++n) {
    low[0] = std::min(low[0], values[n]);
    high[0] = std::max(high[0], values[n]);
  }
  return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
}

/// Of a block of finite values: their range, and sums of what `unit` makes of them.
struct Moments {
  double low, high;
  double rough;    ///< mean, rounded
  double off;      ///< sum of (x - rough)
  double squares;  ///< sum of (x - rough)^2
};

QKV_WIDE Moments moments_of(const double* from, std::size_t count, double unit) {
  const std::span<const double> values(from, count);
  Moments found{};
  const auto [low, high] = range_of(values);
  found.low = low;
  found.high = high;
  const double mean =
      sum_of(values, [unit](double x) { return x * unit; }) / static_cast<double>(count);
  const double rough = std::clamp(mean, low * unit, high * unit);
  found.rough = rough;
  found.off = sum_of(values, [=](double x) { return x * unit - rough; });
  found.squares = sum_of(values, [=](double x) {
    const double deviation = x * unit - rough;
    return deviation * deviation;
  });
  return found;
}

/// Beyond it sums of squares might overflow.
constexpr double huge = 0x1p450;

QKV_WIDE void widen(const float* from, std::size_t count, double* to) {
  for (std::size_t n = 0; n < count; ++n) to[n] = static_cast<double>(from[n]);
}

class Accumulator {
 public:
  void add(std::span<const double> values) {
    stats_.count += values.size();
    if (all_finite(values.data(), values.size())) return add_finite(values);
    std::array<double, block_size> finite;
    std::size_t count = 0;
    for (const double value : values) {
      if (std::isfinite(value)) {
        finite[count++] = value;
      } else if (std::isnan(value)) {
        ++stats_.nan;
      } else {
        ++(value > 0 ? stats_.pos_inf : stats_.neg_inf);
      }
    }
    add_finite({finite.data(), count});
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
  void add_finite(std::span<const double> values) {
    if (values.empty()) return;
    Moments found = moments_of(values.data(), values.size(), unit_);
    stats_.min = stats_.finite == 0 ? found.low : std::min(stats_.min, found.low);
    stats_.max = stats_.finite == 0 ? found.high : std::max(stats_.max, found.high);
    if (unit_ == 1 && (stats_.max > huge || stats_.min < -huge)) {
      count_in_small_units();
      found = moments_of(values.data(), values.size(), unit_);
    }
    const auto n = static_cast<double>(values.size());
    const double off = found.off;
    if (stats_.finite == 0) near_mean_ = found.rough;
    join(n, (found.rough - near_mean_) + off / n, std::max(found.squares - off * off / n, 0.0));
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
/// stats. fill(first, count, out) converts a block.
template <class Fill>
Stats stats_by_block(std::size_t count, Fill fill) {
  Accumulator accumulator;
  std::array<double, block_size> block;
  for (std::size_t first = 0; first < count; first += block_size) {
    const std::size_t size = std::min(block_size, count - first);
    fill(first, size, block.data());
    accumulator.add({block.data(), size});
  }
  return accumulator.result();
}

}  // namespace

Stats stats_of(std::span<const float> values) {
  return stats_by_block(values.size(), [&](std::size_t first, std::size_t size, double* out) {
    widen(values.data() + first, size, out);
  });
}

Stats stats_of(std::span<const double> values) {
  return stats_by_block(values.size(), [&](std::size_t first, std::size_t size, double* out) {
    std::copy_n(values.data() + first, size, out);
  });
}

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
      accumulator.add(block);
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
  if (state_->held > 0) all.add({state_->block.data(), state_->held});
  return all.result();
}

Stats stats_of(const Array& array) {
  const Elements elements(array);
  return stats_by_block(elements.count(), [&](std::size_t first, std::size_t size, double* out) {
    elements.copy(first, size, out);
  });
}

}  // namespace qkv
