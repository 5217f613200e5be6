// Array: strides, conversion and copies of any element type.
#include "qkv/tensor/array.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "qkv/base/error.hpp"
#include "qkv/tensor/tensor.hpp"

using namespace qkv;

namespace {

template <class T>
Array array_of(DType dtype, const Shape& shape, const std::vector<T>& elements) {
  auto memory = allocate_bytes(elements.size() * sizeof(T));
  if (!elements.empty()) std::memcpy(memory.get(), elements.data(), elements.size() * sizeof(T));
  return row_major_array(dtype, shape, memory.get(), memory);
}

std::vector<double> values(const Array& array) {
  std::vector<double> all(element_count(array.shape));
  copy_elements(array, all.data());
  return all;
}

Array counting(const Shape& shape) {
  std::vector<float> elements(element_count(shape));
  for (std::size_t n = 0; n < elements.size(); ++n) elements[n] = static_cast<float>(n);
  return array_of(DType::float32, shape, elements);
}

}  // namespace

TEST_CASE("array: strides are the bytes from one index to the next") {
  using Strides = std::vector<std::ptrdiff_t>;
  CHECK(row_major_strides({2, 3, 4}, 4) == Strides{48, 16, 4});
  CHECK(column_major_strides({2, 3, 4}, 4) == Strides{4, 8, 24});
  CHECK(row_major_strides({}, 8).empty());
  // An empty axis counts as one, so that the others keep strides.
  CHECK(row_major_strides({2, 0, 4}, 2) == Strides{8, 8, 2});
}

TEST_CASE("array: fresh memory is zeroed and aligned to 64, and too much of it is an error") {
  for (const std::size_t bytes : {0U, 1U, 63U, 64U, 1000U}) {
    const auto memory = allocate_bytes(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(memory.get()) % 64 == 0);
    for (std::size_t i = 0; i < bytes; ++i) REQUIRE(memory.get()[i] == std::byte{0});
  }
  CHECK_THROWS_AS(allocate_bytes(~std::size_t{0} - 5), Error);
}

TEST_CASE("array: every type converts, its extremes included") {
  using std::int64_t;
  CHECK(values(array_of<std::uint8_t>(DType::boolean, {3}, {0, 1, 2})) ==
        std::vector<double>{0, 1, 1});
  CHECK(values(array_of<std::int8_t>(DType::int8, {2}, {-128, 127})) ==
        std::vector<double>{-128, 127});
  CHECK(values(array_of<std::uint8_t>(DType::uint8, {2}, {0, 255})) == std::vector<double>{0, 255});
  CHECK(values(array_of<std::int16_t>(DType::int16, {1}, {-32768})) == std::vector<double>{-32768});
  CHECK(values(array_of<std::uint16_t>(DType::uint16, {1}, {65535})) == std::vector<double>{65535});
  CHECK(values(array_of<std::int32_t>(DType::int32, {1}, {-2147483647})) ==
        std::vector<double>{-2147483647});
  CHECK(values(array_of<std::uint32_t>(DType::uint32, {1}, {4294967295U})) ==
        std::vector<double>{4294967295.0});
  CHECK(values(array_of<int64_t>(DType::int64, {1}, {std::numeric_limits<int64_t>::min()})) ==
        std::vector<double>{-0x1p63});
  CHECK(values(array_of<std::uint64_t>(DType::uint64, {1}, {~std::uint64_t{0}})) ==
        std::vector<double>{0x1p64});
  CHECK(values(array_of<std::uint16_t>(DType::float16, {2}, {0x3c00, 0x0001})) ==
        std::vector<double>{1, 0x1p-24});
  CHECK(values(array_of<std::uint16_t>(DType::bfloat16, {1}, {0xc040})) == std::vector<double>{-3});
  CHECK(values(array_of<double>(DType::float64, {1}, {0.1})) == std::vector<double>{0.1});
}

TEST_CASE("array: float64 to float rounds to nearest, and too large becomes infinite") {
  const Array array = array_of<double>(DType::float64, {3}, {0.1, 1e300, -0.0});
  std::vector<float> out(3);
  copy_elements(array, out.data());
  CHECK(out[0] == 0.1f);
  CHECK(out[1] == std::numeric_limits<float>::infinity());
  CHECK(std::signbit(out[2]));
}

TEST_CASE("array: swapped elements are read in the other byte order and copied in this one") {
  Array array = array_of<std::uint32_t>(DType::float32, {2}, {0x0000803f, 0x00000040});
  array.swapped = true;
  CHECK(values(array) == std::vector<double>{1, 2});
  CHECK_FALSE(is_plain(array));
  std::vector<float> copied(2);
  copy_bytes(array, reinterpret_cast<std::byte*>(copied.data()));
  CHECK(copied == std::vector<float>{1, 2});
}

TEST_CASE("array: elements at odd addresses are read") {
  std::vector<std::byte> bytes(17);
  const double value = 1.5;
  std::memcpy(bytes.data() + 1, &value, 8);
  std::memcpy(bytes.data() + 9, &value, 8);
  const Array array = row_major_array(DType::float64, {2}, bytes.data() + 1, nullptr);
  CHECK(values(array) == std::vector<double>{1.5, 1.5});
  CHECK(as_rank<double, 1>(array).elements()[1] == 1.5);
}

TEST_CASE("array: any order of the axes is read in row-major order") {
  const Array array = counting({2, 3, 4});
  const Array turned = transposed(array, {2, 0, 1});
  CHECK(turned.shape == Shape{4, 2, 3});
  CHECK(turned.data == array.data);
  const std::vector<double> all = values(turned);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t position = (i * 2 + j) * 3 + k;
        const auto wanted = static_cast<double>((j * 3 + k) * 4 + i);
        CHECK(all[position] == wanted);
        CHECK(element(turned, position) == wanted);
      }
    }
  }
  std::vector<float> copied(24);
  copy_bytes(turned, reinterpret_cast<std::byte*>(copied.data()));
  CHECK(std::vector<double>(copied.begin(), copied.end()) == all);
}

TEST_CASE("array: an axis of size 1 may have any stride and the array is still plain") {
  Array array = counting({3, 1, 2});
  CHECK(is_plain(array));
  array.strides[1] = 12345;
  CHECK(is_plain(array));
  CHECK_FALSE(is_plain(transposed(array, {2, 1, 0})));
  CHECK(is_plain(transposed(counting({1, 5}), {1, 0})));
  CHECK(is_plain(counting({})));
  CHECK(is_plain(transposed(counting({0, 5}), {1, 0})));
}

TEST_CASE("array: arrays without elements and of rank 0 convert to none and one") {
  CHECK(values(counting({3, 0, 2})).empty());
  CHECK(values(counting({})) == std::vector<double>{0});
}

TEST_CASE("array: reshaped shares plain elements and puts strided ones in order") {
  const Array array = counting({2, 3});
  CHECK(reshaped(array, {3, 2}).data == array.data);
  const Array turned = reshaped(transposed(array, {1, 0}), {6});
  CHECK(turned.data != array.data);
  CHECK(values(turned) == std::vector<double>{0, 3, 1, 4, 2, 5});
}

TEST_CASE(
    "array: as_rank shares plain elements of its type, converts others, refuses other ranks") {
  const Array array = counting({2, 3});
  const auto same = as_rank<float, 2>(array);
  CHECK(reinterpret_cast<const std::byte*>(same.data()) == array.data);
  CHECK(same(1, 2) == 5.0f);
  const auto wider = as_rank<double, 2>(transposed(array, {1, 0}));
  CHECK(wider.sizes() == std::array<std::size_t, 2>{3, 2});
  CHECK(wider(2, 1) == 5.0);
  CHECK_THROWS_WITH((as_rank<float, 3>(array)), "wrong rank: expected rank 3, got (2,3)");
}
