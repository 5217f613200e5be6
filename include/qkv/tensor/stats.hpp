// Stats: range, mean, spread and non-finite counts of a tensor, in one pass with sums in double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "qkv/tensor/array.hpp"

namespace qkv {

/// min ... std are over the finite values (std: population, divided by the count); NaN where there
/// is no finite value.
struct Stats {
  std::size_t count = 0;  ///< elements, finite or not
  std::size_t finite = 0;
  double min = 0, max = 0, mean = 0, std = 0;
  std::size_t nan = 0, pos_inf = 0, neg_inf = 0;
};

/// mean = sum(x)/n,  std = sqrt(sum((x - mean)^2)/n), over the finite values
///
/// range   any: a mean far from zero does not spoil std, and sums of 1e308 do not overflow
/// edge    equal values have exactly that mean and a std of 0
/// source  Chan, Golub & LeVeque 1983: blocks by sums about a rough mean, corrected, then joined
Stats stats_of(std::span<const float> values);
Stats stats_of(std::span<const double> values);

/// The same numbers, to the last bit, for the same values in any dtype, order or stride. Converts a
/// block at a time: a mapped file is never held as a whole.
Stats stats_of(const Array& array);

/// stats_of() of values that come one span after the other, to the last bit.
class RunningStats {
 public:
  RunningStats();
  ~RunningStats();
  RunningStats(RunningStats&&) noexcept;
  void add(std::span<const float> values);
  void add(std::span<const double> values);
  Stats result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The bins + 1 edges of equal bins from min to max, or from min - 0.5 to max + 0.5 where all
/// values are equal. Empty where there is no finite value.
std::vector<double> histogram_edges(const Stats& stats, std::size_t bins);

/// How many finite values lie in each bin: from its edge up to the next, the last edge included, as
/// numpy.histogram counts. `stats` are those of the array.
std::vector<std::size_t> histogram_of(const Array& array, const Stats& stats, std::size_t bins);

}  // namespace qkv
