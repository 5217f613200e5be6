// Array: strides, conversion and copying of elements of any type.
#include "qkv/tensor/array.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/tensor/half.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

namespace {

template <class Bits>
Bits byte_swapped(Bits bits) {
  std::byte bytes[sizeof(Bits)];
  std::memcpy(bytes, &bits, sizeof(Bits));
  std::reverse(std::begin(bytes), std::end(bytes));
  std::memcpy(&bits, bytes, sizeof(Bits));
  return bits;
}

/// Reads one element, which need not be aligned.
template <class Value>
Value load(const std::byte* from, bool swapped) {
  Value value;
  std::memcpy(&value, from, sizeof(Value));
  return swapped ? byte_swapped(value) : value;
}

/// Calls visit(address of a run, elements in it, bytes from one to the next) for each innermost
/// run, in row-major order.
template <class Visit>
void for_each_run(const Array& array, Visit&& visit) {
  const std::size_t rank = array.shape.size();
  if (element_count(array.shape) == 0) return;
  if (rank == 0) {
    visit(array.data, std::size_t{1}, std::ptrdiff_t{0});
    return;
  }
  std::vector<std::size_t> index(rank, 0);
  const std::byte* start = array.data;
  while (true) {
    visit(start, array.shape[rank - 1], array.strides[rank - 1]);
    std::size_t axis = rank - 1;
    while (axis > 0) {
      --axis;
      start += array.strides[axis];
      if (++index[axis] < array.shape[axis]) break;
      start -= array.strides[axis] * static_cast<std::ptrdiff_t>(array.shape[axis]);
      index[axis] = 0;
      if (axis == 0) return;
    }
    if (rank == 1) return;
  }
}

template <class Value, class Out, class Convert>
void copy_as(const Array& array, Out* out, Convert convert) {
  for_each_run(array, [&](const std::byte* from, std::size_t count, std::ptrdiff_t stride) {
    for (std::size_t i = 0; i < count; ++i, from += stride)
      *out++ = convert(load<Value>(from, array.swapped));
  });
}

template <class Out>
void convert_all(const Array& array, Out* out) {
  const auto cast = [](auto value) { return static_cast<Out>(value); };
  switch (array.dtype) {
    case DType::boolean:
      return copy_as<std::uint8_t>(array, out,
                                   [](std::uint8_t byte) { return static_cast<Out>(byte != 0); });
    case DType::int8:
      return copy_as<std::int8_t>(array, out, cast);
    case DType::int16:
      return copy_as<std::int16_t>(array, out, cast);
    case DType::int32:
      return copy_as<std::int32_t>(array, out, cast);
    case DType::int64:
      return copy_as<std::int64_t>(array, out, cast);
    case DType::uint8:
      return copy_as<std::uint8_t>(array, out, cast);
    case DType::uint16:
      return copy_as<std::uint16_t>(array, out, cast);
    case DType::uint32:
      return copy_as<std::uint32_t>(array, out, cast);
    case DType::uint64:
      return copy_as<std::uint64_t>(array, out, cast);
    case DType::float16:
      return copy_as<std::uint16_t>(
          array, out, [](std::uint16_t bits) { return static_cast<Out>(float16_to_float(bits)); });
    case DType::bfloat16:
      return copy_as<std::uint16_t>(
          array, out, [](std::uint16_t bits) { return static_cast<Out>(bfloat16_to_float(bits)); });
    case DType::float32:
      return copy_as<std::uint32_t>(array, out, [](std::uint32_t bits) {
        return static_cast<Out>(std::bit_cast<float>(bits));
      });
    case DType::float64:
      return copy_as<std::uint64_t>(array, out, [](std::uint64_t bits) {
        return static_cast<Out>(std::bit_cast<double>(bits));
      });
  }
}

/// From this size on memory is asked for in huge pages: touching it the first time is what large
/// stages spend most of their time on, and in small pages it takes three times as long.
constexpr std::size_t huge_page = std::size_t{1} << 21;

[[noreturn]] void refuse_memory(std::size_t bytes) {
  throw Error(Complaint{.what = "out of memory",
                        .got = "a request for " + bytes_text(static_cast<double>(bytes))});
}

/// Zeroed memory of its own, aligned to a huge page.
std::shared_ptr<std::byte> map_bytes(std::size_t bytes) {
  const std::size_t asked = bytes + huge_page;
  void* mapped = asked < bytes ? MAP_FAILED
                               : ::mmap(nullptr, asked, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) refuse_memory(bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const auto aligned = (address + huge_page - 1) / huge_page * huge_page;
  // Only advice: without huge pages it is slower.
  ::madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);
  return {reinterpret_cast<std::byte*>(aligned),
          [mapped, asked](std::byte*) { ::munmap(mapped, asked); }};
}

}  // namespace

std::vector<std::ptrdiff_t> row_major_strides(const Shape& shape, std::size_t element_size) {
  std::vector<std::ptrdiff_t> strides(shape.size());
  std::size_t step = element_size;  // of a shape that no memory holds it may wrap
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = static_cast<std::ptrdiff_t>(step);
    step *= std::max<std::size_t>(shape[axis], 1);
  }
  return strides;
}

std::vector<std::ptrdiff_t> column_major_strides(const Shape& shape, std::size_t element_size) {
  std::vector<std::ptrdiff_t> strides(shape.size());
  std::size_t step = element_size;  // of a shape that no memory holds it may wrap
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = static_cast<std::ptrdiff_t>(step);
    step *= std::max<std::size_t>(shape[axis], 1);
  }
  return strides;
}

std::shared_ptr<std::byte> allocate_bytes(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  const std::size_t rounded =
      std::max(bytes + (alignment - bytes % alignment) % alignment, alignment);
  if (rounded >= huge_page) return map_bytes(rounded);
  // calloc's pages come zeroed from the kernel, so a large block costs nothing until it is touched.
  void* block = rounded < bytes ? nullptr : std::calloc(1, rounded + alignment);
  if (block == nullptr) {
    refuse_memory(bytes);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  auto* aligned = reinterpret_cast<std::byte*>((address + alignment - 1) / alignment * alignment);
  return {aligned, [block](std::byte*) { std::free(block); }};
}

Array row_major_array(DType dtype, Shape shape, const std::byte* data,
                      std::shared_ptr<const void> owner) {
  Array array;
  array.dtype = dtype;
  array.strides = row_major_strides(shape, size_of(dtype));
  array.shape = std::move(shape);
  array.data = data;
  array.owner = std::move(owner);
  return array;
}

bool is_plain(const Array& array) {
  if (array.swapped && size_of(array.dtype) > 1) return false;
  const auto plain = row_major_strides(array.shape, size_of(array.dtype));
  for (std::size_t axis = 0; axis < array.shape.size(); ++axis) {
    if (array.shape[axis] == 0) return true;
    if (array.shape[axis] > 1 && array.strides[axis] != plain[axis]) return false;
  }
  return true;
}

void copy_elements(const Array& array, float* out) { convert_all(array, out); }
void copy_elements(const Array& array, double* out) { convert_all(array, out); }

void copy_bytes(const Array& array, std::byte* out) {
  const std::size_t size = size_of(array.dtype);
  if (is_plain(array)) {
    const std::size_t bytes = element_count(array.shape) * size;
    if (bytes > 0) std::memcpy(out, array.data, bytes);
    return;
  }
  for_each_run(array, [&](const std::byte* from, std::size_t count, std::ptrdiff_t stride) {
    for (std::size_t i = 0; i < count; ++i, from += stride, out += size) {
      std::memcpy(out, from, size);
      if (array.swapped) std::reverse(out, out + size);
    }
  });
}

double element(const Array& array, std::size_t position) {
  Array one = array;
  for (std::size_t axis = array.shape.size(); axis-- > 0;) {
    one.data += array.strides[axis] * static_cast<std::ptrdiff_t>(position % array.shape[axis]);
    position /= array.shape[axis];
  }
  one.shape.clear();
  one.strides.clear();
  double value = 0;
  copy_elements(one, &value);
  return value;
}

Array reshaped(const Array& array, Shape shape) {
  Array result = array;
  if (!is_plain(array)) {
    auto memory = allocate_bytes(element_count(array.shape) * size_of(array.dtype));
    copy_bytes(array, memory.get());
    result.data = memory.get();
    result.owner = memory;
    result.swapped = false;
  }
  result.strides = row_major_strides(shape, size_of(array.dtype));
  result.shape = std::move(shape);
  return result;
}

Array transposed(const Array& array, const std::vector<std::size_t>& order) {
  Array result = array;
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    result.shape[axis] = array.shape[order[axis]];
    result.strides[axis] = array.strides[order[axis]];
  }
  return result;
}

template <class T, std::size_t Rank>
Tensor<T, Rank> as_rank(const Array& array) {
  if (array.shape.size() != Rank) {
    throw Error(Complaint{.what = "wrong rank",
                          .expected = "rank " + std::to_string(Rank),
                          .got = shape_text(array.shape)});
  }
  std::array<std::size_t, Rank> sizes{};
  std::copy(array.shape.begin(), array.shape.end(), sizes.begin());
  const bool aligned = reinterpret_cast<std::uintptr_t>(array.data) % alignof(T) == 0;
  if (array.dtype == dtype_of<T>() && is_plain(array) && aligned && array.data != nullptr) {
    // The tensor only lends what it maps: writers make() or clone() their own elements.
    auto* elements = const_cast<T*>(reinterpret_cast<const T*>(array.data));
    return Tensor<T, Rank>::over(sizes, elements, array.owner);
  }
  auto tensor = Tensor<T, Rank>::make(sizes);
  copy_elements(array, tensor.data());
  return tensor;
}

template Tensor<float, 1> as_rank(const Array&);
template Tensor<float, 2> as_rank(const Array&);
template Tensor<float, 3> as_rank(const Array&);
template Tensor<float, 4> as_rank(const Array&);
template Tensor<double, 1> as_rank(const Array&);
template Tensor<double, 2> as_rank(const Array&);
template Tensor<double, 3> as_rank(const Array&);
template Tensor<double, 4> as_rank(const Array&);

}  // namespace qkv
