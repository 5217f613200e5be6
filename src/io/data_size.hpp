// The bytes that a shape asks for, before anything believes it.
#pragma once

#include <cstddef>
#include <string>

#include "qkv/tensor/dtype.hpp"
#include "qkv/tensor/shape.hpp"

namespace qkv {

/// As many axes as NumPy 2 allows.
constexpr std::size_t most_axes = 64;

/// Bytes of all elements. The axes of an empty array must make strides too, so they are held to
/// the same limit.
///
/// throws  Error: more than 64 axes, 2^63 bytes or more
std::size_t checked_data_bytes(DType dtype, const Shape& shape, const std::string& where);

/// "float32 (2,3)"
std::string type_and_shape(DType dtype, const Shape& shape);

}  // namespace qkv
