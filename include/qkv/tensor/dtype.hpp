// The element types that a tensor file may hold.
#pragma once

#include <cstddef>
#include <string_view>

namespace qkv {

enum class DType {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
};

/// NumPy's name: "bool", "int8", "float32"; and "bfloat16".
std::string_view name(DType dtype);

/// Bytes of one element.
std::size_t size_of(DType dtype);

bool is_float(DType dtype);
bool is_integer(DType dtype);  ///< signed or unsigned; bool is none

/// Distance from 1 to the next number: 2^-10 float16, 2^-7 bfloat16, 2^-23 float32, 2^-52 float64;
/// 0 for exact types.
double epsilon(DType dtype);

template <class T>
DType dtype_of();
template <>
inline DType dtype_of<float>() {
  return DType::float32;
}
template <>
inline DType dtype_of<double>() {
  return DType::float64;
}

}  // namespace qkv
