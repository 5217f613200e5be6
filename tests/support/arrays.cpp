// Arrays made in a test: encoding, layout and comparison.
#include "support/arrays.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "qkv/base/text.hpp"
#include "qkv/tensor/half.hpp"

namespace qkv::test {

namespace {

template <class Value>
void put(std::byte* to, Value value) {
  std::memcpy(to, &value, sizeof(Value));
}

void put_as(DType dtype, double number, std::byte* to) {
  switch (dtype) {
    case DType::boolean:
      return put(to, static_cast<std::uint8_t>(number != 0));
    case DType::int8:
      return put(to, static_cast<std::int8_t>(number));
    case DType::int16:
      return put(to, static_cast<std::int16_t>(number));
    case DType::int32:
      return put(to, static_cast<std::int32_t>(number));
    case DType::int64:
      return put(to, static_cast<std::int64_t>(number));
    case DType::uint8:
      return put(to, static_cast<std::uint8_t>(number));
    case DType::uint16:
      return put(to, static_cast<std::uint16_t>(number));
    case DType::uint32:
      return put(to, static_cast<std::uint32_t>(number));
    case DType::uint64:
      return put(to, static_cast<std::uint64_t>(number));
    case DType::float16:
      return put(to, float_to_float16(static_cast<float>(number)));
    case DType::bfloat16:
      return put(to, float_to_bfloat16(static_cast<float>(number)));
    case DType::float32:
      return put(to, static_cast<float>(number));
    case DType::float64:
      return put(to, number);
  }
}

}  // namespace

NamedArray array_of(const Shape& shape, const std::vector<double>& numbers, DType dtype,
                    const std::string& where) {
  if (numbers.size() != element_count(shape))
    throw std::length_error(where + ": numbers do not fill " + shape_text(shape));
  const std::size_t size = size_of(dtype);
  auto memory = allocate_bytes(numbers.size() * size);
  for (std::size_t n = 0; n < numbers.size(); ++n)
    put_as(dtype, numbers[n], memory.get() + n * size);
  return {.array = row_major_array(dtype, shape, memory.get(), memory), .where = where};
}

Array in_fortran_order(const Array& array) {
  std::vector<std::size_t> backwards(array.shape.size());
  std::iota(backwards.rbegin(), backwards.rend(), std::size_t{0});
  const Array columns = transposed(array, backwards);
  auto memory = allocate_bytes(element_count(array.shape) * size_of(array.dtype));
  copy_bytes(columns, memory.get());
  Array result = row_major_array(array.dtype, array.shape, memory.get(), memory);
  result.strides = column_major_strides(array.shape, size_of(array.dtype));
  result.fortran_order = true;
  return result;
}

DType dtype_named(std::string_view wanted) {
  for (int n = 0; n <= static_cast<int>(DType::float64); ++n) {
    const auto dtype = static_cast<DType>(n);
    if (name(dtype) == wanted) return dtype;
  }
  throw std::out_of_range("element type " + std::string(wanted));
}

std::string departure(const Array& got, const Array& want, double absolute, double relative) {
  std::ostringstream wrong;
  if (got.shape != want.shape) {
    wrong << "shape " << shape_text(got.shape) << ", expected " << shape_text(want.shape);
    return wrong.str();
  }
  const std::size_t count = element_count(got.shape);
  std::vector<double> is(count), should(count);
  copy_elements(got, is.data());
  copy_elements(want, should.data());
  std::size_t off = 0, worst = 0;
  double worst_by = -1;
  for (std::size_t n = 0; n < count; ++n) {
    if (is[n] == should[n] && !std::isnan(is[n])) continue;
    const double by = std::abs(is[n] - should[n]);
    if (by <= absolute + relative * std::abs(should[n])) continue;
    ++off;
    if (!(by <= worst_by)) {
      worst = n;
      worst_by = by;
    }
  }
  if (off == 0) return "";
  wrong.precision(9);
  wrong << off << " of " << count << " elements of " << shape_text(got.shape)
        << " are off, worst element " << worst << ": " << is[worst] << ", expected "
        << should[worst];
  return wrong.str();
}

}  // namespace qkv::test
