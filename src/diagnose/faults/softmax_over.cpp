// softmax_over(): softmax over any set of axes.
#include "softmax_over.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "elementwise.hpp"

namespace qkv::faults {

namespace {

/// Calls visit(b, h, l, s, slice): elements of one slice are normalised together.
template <class Visit>
void for_each_in_slices(const std::array<std::size_t, 4>& sizes, const Axes& axes, Visit visit) {
  std::array<std::size_t, 4> strides = {};  // of the slice's number, 0 along the axes of the sum
  std::size_t slices = 1;
  for (std::size_t axis = 4; axis-- > 0;) {
    if (axes[axis]) continue;
    strides[axis] = slices;
    slices *= sizes[axis];
  }
  for (std::size_t b = 0; b < sizes[0]; ++b) {
    for (std::size_t h = 0; h < sizes[1]; ++h) {
      for (std::size_t l = 0; l < sizes[2]; ++l) {
        const std::size_t row = b * strides[0] + h * strides[1] + l * strides[2];
        for (std::size_t s = 0; s < sizes[3]; ++s) visit(b, h, l, s, row + s * strides[3]);
      }
    }
  }
}

std::size_t count_slices(const std::array<std::size_t, 4>& sizes, const Axes& axes) {
  std::size_t slices = 1;
  for (std::size_t axis = 0; axis < 4; ++axis) slices *= axes[axis] ? 1 : sizes[axis];
  return slices;
}

}  // namespace

Tensor<double, 4> softmax_over(const Tensor<double, 4>& x, const Axes& axes, double of_nothing) {
  const std::size_t slices = count_slices(x.sizes(), axes);
  constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
  std::vector<double> greatest(slices, minus_infinity), sum(slices, 0);
  std::vector<bool> holds_any(slices, false);
  auto y = Tensor<double, 4>::make(x.sizes());
  const double* from = x.data();
  for_each_in_slices(x.sizes(), axes, [&](auto, auto, auto, auto, std::size_t slice) {
    holds_any[slice] = holds_any[slice] || *from != minus_infinity;
    greatest[slice] = std::max(greatest[slice], *from++);
  });
  from = x.data();
  double* to = y.data();
  for_each_in_slices(x.sizes(), axes, [&](auto, auto, auto, auto, std::size_t slice) {
    *to = std::exp(*from++ - greatest[slice]);
    sum[slice] += *to++;
  });
  to = y.data();
  for_each_in_slices(x.sizes(), axes, [&](auto, auto, auto, auto, std::size_t slice) {
    *to = holds_any[slice] ? *to / sum[slice] : of_nothing;
    ++to;
  });
  return y;
}

bool hides_all_together(const Visibility<double>& visibility, const Axes& axes) {
  if (!visibility.any()) return false;
  const std::array<std::size_t, 4> sizes = {visibility.B, visibility.H, visibility.L, visibility.S};
  std::vector<bool> seen(count_slices(sizes, axes), false);
  for_each_in_slices(sizes, axes, [&](auto b, auto h, auto l, auto s, std::size_t slice) {
    if (!seen[slice] && !visibility.hidden(b, h, l, s)) seen[slice] = true;
  });
  return std::ranges::find(seen, false) != seen.end();
}

Tensor<double, 4> without_nan(const Tensor<double, 4>& x, double value) {
  return elementwise(x, [value](double v) { return std::isnan(v) ? value : v; });
}

}  // namespace qkv::faults
