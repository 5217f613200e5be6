// Gradients in tests: the dout of a golden case, and a gradient as its numbers are kept.
#pragma once

#include <array>
#include <optional>

#include "qkv/attention/stage_list.hpp"
#include "qkv/grad/gradient.hpp"
#include "support/arrays.hpp"
#include "support/golden.hpp"

namespace qkv::test {

/// The dout of case `number` of golden/grad: none (ones) in every fifth, else hashed values.
inline std::optional<NamedArray> golden_dout(const GoldenCase& golden, std::size_t number) {
  if (number % 5 == 0) return std::nullopt;
  const Sizes sizes = find_sizes(golden.inputs, golden.settings);
  const Shape shape = stage_shapes(golden.inputs, golden.settings, sizes).back().shape;
  std::vector<double> values(element_count(shape));
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = hashed_value(64 * number + 60, n);
  return array_of(shape, values, DType::float64, "dout.npy");
}

/// Axes of 1 in front, as the golden numbers have them.
template <class T>
Tensor<T, 4> rank_four(const Gradient<T>& gradient) {
  std::array<std::size_t, 4> sizes{1, 1, 1, 1};
  const std::size_t rank = gradient.shape.size();
  for (std::size_t axis = 0; axis < rank; ++axis) sizes[4 - rank + axis] = gradient.shape[axis];
  return gradient.values.template reshaped<4>(sizes);
}

}  // namespace qkv::test
