// Stats: range, mean, spread and non-finite counts of a tensor, in one pass with sums in double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

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

Stats stats_of(std::span<const float> values);
Stats stats_of(std::span<const double> values);
Stats stats_of(const Array& array);

}  // namespace qkv
