// Diff parts: what the text and the JSON of a comparison both need.
#pragma once

#include "qkv/report/report.hpp"

namespace qkv {

/// The index of a row-major position.
inline std::vector<std::size_t> index_of(std::size_t position, const Shape& shape) {
  std::vector<std::size_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = position % shape[axis];
    position /= shape[axis];
  }
  return index;
}

/// The part of the elements that differ, 0 to 1.
inline double differing_share(const Comparison& comparison) {
  return comparison.count == 0
             ? 0
             : static_cast<double>(comparison.differing) / static_cast<double>(comparison.count);
}

}  // namespace qkv
