// The bytes that a shape asks for, before anything believes it.
#include "io/data_size.hpp"

#include <algorithm>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

std::size_t checked_data_bytes(DType dtype, const Shape& shape, const std::string& where) {
  if (shape.size() > most_axes) {
    throw Error(Complaint{.what = "absurd shape",
                          .where = where,
                          .expected = "at most " + std::to_string(most_axes) + " axes",
                          .got = std::to_string(shape.size())});
  }
  Shape filled = shape;
  for (std::size_t& axis : filled) axis = std::max<std::size_t>(axis, 1);
  filled.push_back(size_of(dtype));
  if (!checked_count(filled)) {
    throw Error(Complaint{.what = "absurd shape",
                          .where = where,
                          .expected = "less than 2^63 bytes",
                          .got = type_and_shape(dtype, shape)});
  }
  return element_count(shape) * size_of(dtype);
}

std::string type_and_shape(DType dtype, const Shape& shape) {
  return std::string(name(dtype)) + " " + shape_text(shape);
}

}  // namespace qkv
