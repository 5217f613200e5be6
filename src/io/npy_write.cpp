// Writing .npy, with the bytes that numpy.save writes.
#include <algorithm>
#include <bit>
#include <vector>

#include "io/data_size.hpp"
#include "qkv/io/write.hpp"

namespace qkv {

namespace {

/// Elements that are strided or swapped are put in order in blocks of this size.
constexpr std::size_t block_size = std::size_t{1} << 20;

/// NumPy leaves room for the first axis to grow to this many digits in place.
constexpr std::size_t digits_of_first_axis = 21;

std::string_view descr(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "|b1";
    case DType::int8:
      return "|i1";
    case DType::int16:
      return "<i2";
    case DType::int32:
      return "<i4";
    case DType::int64:
      return "<i8";
    case DType::uint8:
      return "|u1";
    case DType::uint16:
      return "<u2";
    case DType::uint32:
      return "<u4";
    case DType::uint64:
      return "<u8";
    case DType::float16:
      return "<f2";
    case DType::bfloat16:
      return "<V2";
    case DType::float32:
      return "<f4";
    case DType::float64:
      return "<f8";
  }
  return "";
}

/// The shape as Python prints a tuple: (), (2,), (2, 3).
std::string tuple(const Shape& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// Writes the elements in row-major order, holding one block of them at most.
void write_elements(OutputFile& file, const Array& array, std::vector<std::byte>& block) {
  const std::size_t bytes = element_count(array.shape) * size_of(array.dtype);
  if (bytes == 0) return;
  if (is_plain(array)) {
    file.write(array.data, bytes);
    return;
  }
  if (bytes <= block_size) {
    block.resize(bytes);
    copy_bytes(array, block.data());
    file.write(block.data(), bytes);
    return;
  }
  // More than a block has an axis to split: as many of its items at once as fit, one at least.
  const std::size_t count = array.shape.front();
  const std::size_t at_once = std::max<std::size_t>(block_size / (bytes / count), 1);
  Array some = array;
  for (std::size_t first = 0; first < count; first += at_once) {
    some.shape.front() = std::min(at_once, count - first);
    some.data = array.data + static_cast<std::ptrdiff_t>(first) * array.strides.front();
    if (some.shape.front() == 1) {
      Array item = some;
      item.shape.erase(item.shape.begin());
      item.strides.erase(item.strides.begin());
      write_elements(file, item, block);
    } else {
      write_elements(file, some, block);
    }
  }
}

}  // namespace

std::string npy_header(DType dtype, const Shape& shape) {
  std::string dict = "{'descr': '" + std::string(descr(dtype)) +
                     "', 'fortran_order': False, 'shape': " + tuple(shape) + ", }";
  if (!shape.empty()) {
    const std::size_t digits = std::to_string(shape.front()).size();
    dict.append(digits_of_first_axis - std::min(digits, digits_of_first_axis), ' ');
  }
  // Spaces and a newline bring all up to a multiple of 64, by 1 to 64 spaces as NumPy does.
  const auto padded_length = [&](std::size_t before_dict) {
    const std::size_t length = dict.size() + 1;
    return length + 64 - (before_dict + length) % 64;
  };
  constexpr std::size_t longest_version_1 = 0xffff;
  const bool version_1 = padded_length(10) <= longest_version_1;
  const std::size_t length = padded_length(version_1 ? 10 : 12);
  std::string header = "\x93NUMPY";
  header += version_1 ? '\x01' : '\x02';
  header += '\0';
  for (std::size_t byte = 0; byte < (version_1 ? 2 : 4); ++byte) {
    header += static_cast<char>(length >> (8 * byte) & 0xff);
  }
  header += dict;
  header.append(length - dict.size() - 1, ' ');
  header += '\n';
  return header;
}

NpyWriter::NpyWriter(const std::string& path, DType dtype, const Shape& shape)
    : file_(path), element_size_(size_of(dtype)) {
  file_.write(npy_header(dtype, shape));
}

void NpyWriter::write(const void* elements, std::size_t count) {
  if constexpr (std::endian::native == std::endian::little) {
    file_.write(elements, count * element_size_);
  } else {
    const auto* from = static_cast<const std::byte*>(elements);
    std::vector<std::byte> little(from, from + count * element_size_);
    for (std::size_t n = 0; n < little.size(); n += element_size_)
      std::reverse(little.begin() + static_cast<std::ptrdiff_t>(n),
                   little.begin() + static_cast<std::ptrdiff_t>(n + element_size_));
    file_.write(little.data(), little.size());
  }
}

void write_npy(const std::string& path, const Array& array) {
  OutputFile file(path);
  file.write(npy_header(array.dtype, array.shape));
  // Plain elements are in this machine's byte order; the header says little endian.
  Array little = array;
  if constexpr (std::endian::native == std::endian::big) little.swapped = !little.swapped;
  std::vector<std::byte> block;
  write_elements(file, little, block);
  file.commit();
}

}  // namespace qkv
