// Array: a tensor of any rank and element type, as a file holds it; a view that may be mapped,
// strided or byte-swapped.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "qkv/tensor/dtype.hpp"
#include "qkv/tensor/shape.hpp"

namespace qkv {

/// Elements are not touched until they are converted: a mapped file costs no copy, and reading only
/// its shape reads only its header. Copies of an Array share the elements.
struct Array {
  DType dtype = DType::float32;
  Shape shape = {};
  std::vector<std::ptrdiff_t> strides =
      {};                           ///< bytes from one index to the next, per axis; may be negative
  bool swapped = false;             ///< the bytes of each element are in the other order
  bool fortran_order = false;       ///< as the file's header says, for `stats`
  const std::byte* data = nullptr;  ///< element [0,0,...]
  std::shared_ptr<const void> owner = nullptr;  ///< keeps the memory or the mapping alive
};

/// Strides of a row-major (C order) array, in bytes.
std::vector<std::ptrdiff_t> row_major_strides(const Shape& shape, std::size_t element_size);

/// Strides of a column-major (Fortran order) array, in bytes.
std::vector<std::ptrdiff_t> column_major_strides(const Shape& shape, std::size_t element_size);

/// Fresh zeroed memory for `bytes` bytes, aligned to 64.
/// throws  Error when there is no such memory
std::shared_ptr<std::byte> allocate_bytes(std::size_t bytes);

/// A row-major array over memory that `owner` keeps alive.
Array row_major_array(DType dtype, Shape shape, const std::byte* data,
                      std::shared_ptr<const void> owner);

/// True where the elements lie in row-major order without gaps and in this machine's byte order.
bool is_plain(const Array& array);

/// Converts every element, in row-major order. bool gives 0 or 1 (any byte that is not 0 is true,
/// as NumPy reads it); float64 to float rounds to nearest.
void copy_elements(const Array& array, float* out);
void copy_elements(const Array& array, double* out);

/// Copies the elements as they are, in row-major order and in this machine's byte order.
void copy_bytes(const Array& array, std::byte* out);

/// The element at a row-major position, as double (int64 and uint64 beyond 2^53 round).
double element(const Array& array, std::size_t position);

/// The same elements under another shape of the same count; copies only if the array is strided.
Array reshaped(const Array& array, Shape shape);

/// The same elements with the axes in another order; never copies.
Array transposed(const Array& array, const std::vector<std::size_t>& order);

}  // namespace qkv
