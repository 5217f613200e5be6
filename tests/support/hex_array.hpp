// hex_array(): arrays from the hex of golden files, and the same elements in other memory layouts.
#pragma once

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "qkv/tensor/array.hpp"

namespace qkv::test {

inline DType dtype_named(const std::string& wanted) {
  for (const DType dtype : {DType::boolean, DType::int8, DType::int16, DType::int32, DType::int64,
                            DType::uint8, DType::uint16, DType::uint32, DType::uint64,
                            DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    if (name(dtype) == wanted) return dtype;
  }
  throw std::runtime_error("golden file names no dtype: " + wanted);
}

/// "(2,4,8)", "(3)", "()"
inline Shape shape_from(const std::string& text) {
  Shape shape;
  for (std::size_t at = 1; at + 1 < text.size();) {
    std::size_t length = 0;
    shape.push_back(std::stoul(text.substr(at), &length));
    at += length + 1;
  }
  return shape;
}

/// Elements whose little-endian bytes are `hex` ("-": none), repeated until the shape is full.
inline Array hex_array(DType dtype, const Shape& shape, const std::string& hex) {
  std::vector<std::byte> pattern;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
    pattern.push_back(static_cast<std::byte>(std::stoul(hex.substr(at, 2), nullptr, 16)));
  const std::size_t bytes = element_count(shape) * size_of(dtype);
  auto memory = allocate_bytes(bytes);
  for (std::size_t n = 0; n < bytes; ++n) memory.get()[n] = pattern[n % pattern.size()];
  return row_major_array(dtype, shape, memory.get(), memory);
}

/// The same array with the bytes of each element in the other order.
inline Array byte_swapped(const Array& array) {
  const std::size_t size = size_of(array.dtype);
  const std::size_t bytes = element_count(array.shape) * size;
  auto memory = allocate_bytes(bytes);
  copy_bytes(array, memory.get());
  for (std::size_t n = 0; n < bytes; n += size)
    std::reverse(memory.get() + n, memory.get() + n + size);
  Array swapped = row_major_array(array.dtype, array.shape, memory.get(), memory);
  swapped.swapped = true;
  return swapped;
}

/// The same array in column-major order.
inline Array column_major(const Array& array) {
  std::vector<std::size_t> reversed;
  for (std::size_t axis = array.shape.size(); axis-- > 0;) reversed.push_back(axis);
  const Array flipped = transposed(array, reversed);
  auto memory = allocate_bytes(element_count(array.shape) * size_of(array.dtype));
  copy_bytes(flipped, memory.get());
  return transposed(row_major_array(array.dtype, flipped.shape, memory.get(), memory), reversed);
}

}  // namespace qkv::test
