// Moments: range and sums of a block of values, of which stats are made.
#pragma once

#include <span>

namespace qkv {

/// Of a block of values: their range, and sums of what is left when something near their mean is
/// taken off. A NaN or an infinity, or a sum that overflows, makes `off` not finite.
struct Moments {
  double low, high;
  double rough;    ///< near the mean, and equal to it where all values are equal
  double off;      ///< sum of (x - rough)
  double squares;  ///< sum of (x - rough)^2
};

/// In one pass where there are many, at the speed of memory. At least one value; the same bits on
/// every CPU.
Moments moments_of(std::span<const float> values);
Moments moments_of(std::span<const double> values);

}  // namespace qkv
