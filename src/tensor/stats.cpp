// Stats: blocks of values, each in one pass, joined as they come.
#include "qkv/tensor/stats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "qkv/tensor/tensor.hpp"
#include "tensor/elements.hpp"
#include "tensor/moments.hpp"

namespace qkv {

namespace {

constexpr std::size_t block_size = 4096;

/// Beyond it sums of squares might overflow.
constexpr double huge = 0x1p450;

class Accumulator {
 public:
  /// A block of at most block_size values.
  template <class T>
  void add(std::span<const T> values) {
    if (values.empty()) return;
    stats_.count += values.size();
    const Moments moments = moments_of(values);
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
    if (count > 0) add_finite(kept, moments_of(kept));
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
    join_block(values.size(), moments_of(std::span<const double>(small.data(), values.size())));
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
