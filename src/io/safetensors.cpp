// .safetensors: each tensor is used where it lies.
#include "io/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "io/data_size.hpp"
#include "io/file_kind.hpp"
#include "io/names.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/json.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

constexpr std::size_t length_size = 8;
constexpr std::size_t longest_header = 100'000'000;  ///< as the format's own library has it
constexpr std::string_view not_a_tensor = "__metadata__";

struct Name {
  std::string_view name;
  DType dtype;
};

constexpr std::array<Name, 13> types{{{"F64", DType::float64},
                                      {"F32", DType::float32},
                                      {"F16", DType::float16},
                                      {"BF16", DType::bfloat16},
                                      {"I64", DType::int64},
                                      {"I32", DType::int32},
                                      {"I16", DType::int16},
                                      {"I8", DType::int8},
                                      {"U8", DType::uint8},
                                      {"U16", DType::uint16},
                                      {"U32", DType::uint32},
                                      {"U64", DType::uint64},
                                      {"BOOL", DType::boolean}}};

struct File {
  Json header;
  Bytes data;
};

[[noreturn]] void malformed(const std::string& where, const std::string& expected) {
  throw Error(Complaint{
      .what = "malformed entry in the .safetensors header", .where = where, .expected = expected});
}

std::size_t header_length(const Bytes& bytes) {
  std::size_t length = 0;
  for (std::size_t i = length_size; i-- > 0;) {
    length = length << 8 | std::to_integer<std::size_t>(bytes.data[i]);
  }
  return length;
}

/// A whole number, 0 or more, that a double holds exactly.
std::optional<std::size_t> whole(const Json& json) {
  constexpr double largest = 0x1p53;
  if (json.kind() != Json::Kind::number) return std::nullopt;
  const double number = json.number();
  if (!(number >= 0 && number <= largest) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::size_t>(number);
}

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

Range range_of(const Json& entry, const std::string& where) {
  const Json* offsets = entry.find("data_offsets");
  if (offsets != nullptr && offsets->items().size() == 2) {
    const std::optional<std::size_t> begin = whole(offsets->items()[0]);
    const std::optional<std::size_t> end = whole(offsets->items()[1]);
    if (begin && end && *begin <= *end) return {.begin = *begin, .end = *end};
  }
  malformed(where, "data_offsets [begin, end] in whole bytes");
}

Shape shape_of(const Json& entry, const std::string& where) {
  const Json* sizes = entry.find("shape");
  if (sizes == nullptr || sizes->kind() != Json::Kind::array)
    malformed(where, "a shape such as [2,3]");
  Shape shape;
  for (const Json& item : sizes->items()) {
    const std::optional<std::size_t> size = whole(item);
    if (!size) malformed(where, "a shape of whole numbers");
    shape.push_back(*size);
  }
  return shape;
}

DType dtype_of_entry(const Json& entry, const std::string& where) {
  const Json* type = entry.find("dtype");
  if (type == nullptr || type->kind() != Json::Kind::text) malformed(where, "a dtype");
  std::vector<std::string> known;
  for (const Name& each : types) {
    if (each.name == type->text()) return each.dtype;
    known.emplace_back(each.name);
  }
  throw Error(Complaint{.what = "element type that qkv does not read",
                        .where = where,
                        .expected = listed(known, "or"),
                        .got = escaped(type->text())});
}

File open(const Bytes& bytes, const std::string& where) {
  if (bytes.size < length_size) {
    throw Error(Complaint{.what = "truncated .safetensors",
                          .where = where,
                          .expected = "8 bytes of header length",
                          .got = std::to_string(bytes.size)});
  }
  const std::size_t length = header_length(bytes);
  if (length > longest_header) {
    const FileKind kind = file_kind(bytes.data, bytes.size);
    throw Error(Complaint{.what = "not a .safetensors file",
                          .where = where,
                          .expected = "a header length of at most " +
                                      std::to_string(longest_header) + " bytes at its start",
                          .got = kind.what,
                          .hint = kind.hint});
  }
  if (length > bytes.size - length_size) {
    throw Error(Complaint{.what = "truncated .safetensors",
                          .where = where,
                          .expected = std::to_string(length) + " bytes of header",
                          .got = std::to_string(bytes.size - length_size)});
  }
  const std::size_t data_at = length_size + length;
  File file{
      .header =
          Json::parse({reinterpret_cast<const char*>(bytes.data + length_size), length}, where),
      .data = {.data = bytes.data + data_at, .size = bytes.size - data_at, .owner = bytes.owner}};
  if (file.header.kind() != Json::Kind::object)
    malformed(where, "an object with an entry per tensor");
  // A file that was cut off is refused whichever tensor is asked for.
  std::size_t end = 0;
  for (const auto& [name, entry] : file.header.members()) {
    if (name == not_a_tensor) continue;
    end = std::max(end, range_of(entry, where + ":" + escaped(name)).end);
  }
  if (end != file.data.size) {
    throw Error(Complaint{
        .what = end > file.data.size ? "truncated .safetensors" : "trailing bytes in .safetensors",
        .where = where,
        .expected = std::to_string(end) + " bytes of data, as the header says",
        .got = std::to_string(file.data.size)});
  }
  return file;
}

std::vector<std::string> names_in(const File& file) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : file.header.members()) {
    if (name != not_a_tensor) names.push_back(name);
  }
  return names;
}

}  // namespace

bool safetensors_sniff(const Bytes& bytes) {
  return bytes.size > length_size && std::to_integer<char>(bytes.data[length_size]) == '{' &&
         header_length(bytes) <= longest_header;
}

std::vector<std::string> safetensors_members(const Bytes& bytes, const std::string& where) {
  return names_in(open(bytes, where));
}

Array safetensors_read(const Bytes& bytes, std::string_view member, const std::string& where) {
  const File file = open(bytes, where);
  const std::vector<std::string> names = names_in(file);
  const std::string name(member.empty() ? only_tensor(names, where) : member);
  const Json* entry = name == not_a_tensor ? nullptr : file.header.find(name);
  if (entry == nullptr) no_such_tensor(name, names, where);

  const std::string full_name = where + ":" + escaped(name);
  const DType dtype = dtype_of_entry(*entry, full_name);
  Shape shape = shape_of(*entry, full_name);
  const Range range = range_of(*entry, full_name);
  const std::size_t size = checked_data_bytes(dtype, shape, full_name);
  if (range.end - range.begin != size) {
    throw Error(
        Complaint{.what = "shape and data_offsets disagree",
                  .where = full_name,
                  .expected = std::to_string(size) + " bytes for " + type_and_shape(dtype, shape),
                  .got = std::to_string(range.end - range.begin)});
  }
  Array array = row_major_array(dtype, std::move(shape), file.data.data + range.begin, bytes.owner);
  array.swapped = size_of(dtype) > 1 && std::endian::native == std::endian::big;
  return array;
}

}  // namespace qkv
