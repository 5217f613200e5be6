// Shapes: counting and comparing them.
#include "qkv/tensor/shape.hpp"

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

std::optional<std::size_t> checked_count(const Shape& shape) {
  constexpr std::size_t largest = ~std::size_t{0} >> 1;
  std::size_t count = 1;
  for (const std::size_t axis : shape) {
    if (axis == 0) return 0;
  }
  for (const std::size_t axis : shape) {
    if (axis > largest / count) return std::nullopt;
    count *= axis;
  }
  return count;
}

std::size_t element_count(const Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t axis : shape) count *= axis;
  return count;
}

void require_shape(const Shape& shape, const Shape& wanted, const std::string& what,
                   const std::string& where, const std::string& set_by) {
  if (shape == wanted) return;
  throw Error(Complaint{.what = what,
                        .where = where,
                        .expected = shape_text(wanted) + (set_by.empty() ? "" : " " + set_by),
                        .got = shape_text(shape)});
}

}  // namespace qkv
