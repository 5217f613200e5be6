// Given: the inputs that the user brought, one after another, and their elements in pieces.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "qkv/attention/inputs.hpp"

namespace qkv::checks {

/// What an input is for: numbers that are multiplied, or a rule that says which keys take part.
enum class Role { activation, weight, bias, mask, rule };

struct Given {
  const NamedArray* named;
  Role role;
};

/// All inputs that there are, in the order of the formula. `inputs` may be null.
std::vector<Given> given(const Inputs* inputs);

/// Index of a row-major position.
std::vector<std::size_t> index_of(std::size_t position, const Shape& shape);

/// visit(position of the first, elements as double) over the whole array in row-major order, in
/// pieces small enough to stay in the cache: a mapped file is not copied as a whole.
template <class Visit>
void for_each_piece(const Array& array, Visit&& visit) {
  constexpr std::size_t most = 4096;
  const std::size_t count = element_count(array.shape);
  if (count == 0) return;
  std::vector<double> piece;
  // The trailing axes that fit into a piece are read at once, and as much of the one before them.
  std::size_t axis = array.shape.size(), inner = 1;
  while (axis > 0 && inner * array.shape[axis - 1] <= most) inner *= array.shape[--axis];
  if (axis == 0) {
    piece.resize(count);
    copy_elements(array, piece.data());
    visit(std::size_t{0}, std::span<const double>(piece));
    return;
  }
  const std::size_t cut = axis - 1, at_once = std::max<std::size_t>(1, most / inner);
  Array part = array;
  part.shape.erase(part.shape.begin(), part.shape.begin() + static_cast<std::ptrdiff_t>(cut));
  part.strides.erase(part.strides.begin(), part.strides.begin() + static_cast<std::ptrdiff_t>(cut));
  const std::size_t rows = array.shape[cut];
  for (std::size_t first = 0; first < count; first += rows * inner) {
    const auto outer = index_of(first, array.shape);
    const std::byte* start = array.data;
    for (std::size_t a = 0; a < cut; ++a) {
      start += array.strides[a] * static_cast<std::ptrdiff_t>(outer[a]);
    }
    for (std::size_t row = 0; row < rows; row += at_once) {
      part.data = start + array.strides[cut] * static_cast<std::ptrdiff_t>(row);
      part.shape[0] = std::min(at_once, rows - row);
      piece.resize(part.shape[0] * inner);
      copy_elements(part, piece.data());
      visit(first + row * inner, std::span<const double>(piece));
    }
  }
}

}  // namespace qkv::checks
