// .npy: from bytes to an Array, without touching its elements.
#include "io/npy.hpp"

#include <algorithm>
#include <array>

#include "io/data_size.hpp"
#include "io/file_kind.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// Magic, major and minor version; then the length of the dict: 2 bytes in version 1, 4 afterwards.
constexpr std::size_t prelude_size = 8;

/// A dict with 64 axes takes 2 KiB. Longer ones are lies, or types that are not read anyway.
constexpr std::size_t longest_dict = std::size_t{1} << 20;

std::string bytes_of(std::size_t count, const std::string& what) {
  return std::to_string(count) + (count == 1 ? " byte of " : " bytes of ") + what;
}

[[noreturn]] void truncated(const std::string& where, std::size_t wanted, const std::string& of,
                            std::size_t got) {
  throw Error(Complaint{.what = "truncated .npy",
                        .where = where,
                        .expected = bytes_of(wanted, of),
                        .got = std::to_string(got)});
}

/// Bytes of the length field, by the version in the first 8 bytes (fewer where they end).
std::size_t length_width(const std::byte* prelude, std::size_t available,
                         const std::string& where) {
  const std::string_view start(reinterpret_cast<const char*>(prelude),
                               std::min(available, magic.size()));
  if (start != magic.substr(0, start.size())) {
    const FileKind kind = file_kind(prelude, available);
    throw Error(Complaint{.what = "not a .npy file",
                          .where = where,
                          .expected = "\\x93NUMPY as its first bytes",
                          .got = kind.what,
                          .hint = kind.hint});
  }
  if (available < prelude_size) truncated(where, prelude_size, "magic and version", available);
  const auto major = std::to_integer<unsigned>(prelude[6]);
  const auto minor = std::to_integer<unsigned>(prelude[7]);
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(Complaint{.what = "unknown version of .npy",
                          .where = where,
                          .expected = "1.0, 2.0 or 3.0",
                          .got = std::to_string(major) + "." + std::to_string(minor)});
  }
  return major == 1 ? 2 : 4;
}

/// The length of the dict, from its little-endian field.
std::size_t dict_length(const std::byte* field, std::size_t width, const std::string& where) {
  std::size_t length = 0;
  for (std::size_t i = width; i-- > 0;)
    length = length << 8 | std::to_integer<std::size_t>(field[i]);
  if (length > longest_dict) {
    throw Error(Complaint{.what = "absurd length of the .npy header",
                          .where = where,
                          .expected = "at most " + std::to_string(longest_dict) + " bytes",
                          .got = std::to_string(length)});
  }
  return length;
}

Array array_over(const NpyHeader& header, const std::byte* data,
                 std::shared_ptr<const void> owner) {
  Array array = row_major_array(header.dtype, header.shape, data, std::move(owner));
  if (header.fortran_order) {
    array.strides = column_major_strides(header.shape, size_of(header.dtype));
  }
  array.swapped = header.swapped;
  array.fortran_order = header.fortran_order;
  return array;
}

/// A program in a locale that groups digits writes 2621 as 2,621: two axes for one. Says so where
/// joining two neighbours explains the size that was found.
std::string grouping_hint(const NpyHeader& header, std::size_t data_bytes) {
  for (std::size_t axis = 0; axis + 1 < header.shape.size(); ++axis) {
    if (header.shape[axis] >= 1000 || header.shape[axis + 1] >= 1000) continue;
    Shape joined = header.shape;
    joined[axis] = joined[axis] * 1000 + joined[axis + 1];
    joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    Shape sizes = joined;
    sizes.push_back(size_of(header.dtype));
    if (checked_count(sizes) == data_bytes) {
      return "the size fits " + shape_text(joined) + ": was " + std::to_string(joined[axis]) +
             " written with a comma between its digits?";
    }
  }
  return "";
}

}  // namespace

bool npy_sniff(const Bytes& bytes) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data), bytes.size).starts_with(magic);
}

Array npy_read(const Bytes& bytes, std::string_view member, const std::string& where) {
  if (!member.empty()) {
    throw Error(Complaint{.what = "a .npy file holds one array, which has no name",
                          .where = where + ":" + escaped(member)});
  }
  const std::size_t width = length_width(bytes.data, bytes.size, where);
  const std::size_t dict_at = prelude_size + width;
  if (bytes.size < dict_at) truncated(where, dict_at, "magic, version and length", bytes.size);
  const std::size_t length = dict_length(bytes.data + prelude_size, width, where);
  if (length > bytes.size - dict_at) truncated(where, length, "header", bytes.size - dict_at);
  const auto* dict = reinterpret_cast<const char*>(bytes.data + dict_at);
  const NpyHeader header = parse_npy_dict({dict, length}, where);

  const std::size_t data_at = dict_at + length;
  const std::size_t got = bytes.size - data_at;
  if (got < header.data_bytes) {
    truncated(where, header.data_bytes, "data for " + type_and_shape(header.dtype, header.shape),
              got);
  }
  if (got > header.data_bytes) {
    const Bytes rest{.data = bytes.data + data_at + header.data_bytes,
                     .size = got - header.data_bytes};
    throw Error(Complaint{
        .what = "trailing bytes in .npy",
        .where = where,
        .expected =
            bytes_of(header.data_bytes, "data for " + type_and_shape(header.dtype, header.shape)),
        .got = std::to_string(got),
        .hint = npy_sniff(rest) ? "another array follows: standard input reads them one by one, as "
                                  "-, - and so on"
                                : grouping_hint(header, got)});
  }
  return array_over(header, bytes.data + data_at, bytes.owner);
}

std::vector<std::string> npy_members(const Bytes&, const std::string&) { return {""}; }

std::optional<Array> npy_read_next(const Take& take, std::optional<std::size_t> declared,
                                   const std::string& where) {
  std::array<std::byte, prelude_size> prelude{};
  const std::size_t available = take(prelude.data(), prelude.size());
  if (available == 0) return std::nullopt;
  const std::size_t width = length_width(prelude.data(), available, where);
  std::array<std::byte, 4> field{};
  if (const std::size_t got = take(field.data(), width); got < width) {
    truncated(where, prelude_size + width, "magic, version and length", prelude_size + got);
  }
  const std::size_t length = dict_length(field.data(), width, where);
  const Taken dict = take_growing(take, length);
  if (dict.size < length) truncated(where, length, "header", dict.size);
  const NpyHeader header =
      parse_npy_dict({reinterpret_cast<const char*>(dict.memory.get()), length}, where);

  const std::size_t before_data = prelude_size + width + length;
  if (declared && (*declared < before_data || *declared - before_data != header.data_bytes)) {
    throw Error(Complaint{
        .what = "header and declared size disagree",
        .where = where,
        .expected =
            bytes_of(header.data_bytes, "data for " + type_and_shape(header.dtype, header.shape)),
        .got = *declared < before_data ? std::to_string(*declared) + " in all"
                                       : std::to_string(*declared - before_data)});
  }
  const Taken data = take_growing(take, header.data_bytes);
  if (data.size < header.data_bytes) {
    truncated(where, header.data_bytes, "data for " + type_and_shape(header.dtype, header.shape),
              data.size);
  }
  return array_over(header, data.memory.get(), data.memory);
}

}  // namespace qkv
