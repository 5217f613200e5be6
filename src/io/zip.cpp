// zip archives: the central directory and where each member's bytes lie (PKWARE APPNOTE 6.3.10).
#include "io/zip.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "io/file_kind.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

constexpr std::uint64_t local_header = 0x04034b50;
constexpr std::uint64_t directory_entry = 0x02014b50;
constexpr std::uint64_t directory_end = 0x06054b50;
constexpr std::uint64_t zip64_end = 0x06064b50;
constexpr std::uint64_t zip64_locator = 0x07064b50;
constexpr std::uint64_t in_zip64_16 = 0xffff;  ///< "the value is in the zip64 record"
constexpr std::uint64_t in_zip64_32 = 0xffffffff;

[[noreturn]] void damaged(const std::string& where, const std::string& what) {
  throw Error(Complaint{.what = "damaged zip archive: " + what, .where = where});
}

/// Little-endian numbers at offsets that are checked against the end of the bytes.
class Reader {
 public:
  Reader(const Bytes& bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  std::uint64_t number(std::size_t at, std::size_t width) const {
    check(at, width);
    std::uint64_t value = 0;
    for (std::size_t i = width; i-- > 0;) {
      value = value << 8 | std::to_integer<std::uint64_t>(bytes_.data[at + i]);
    }
    return value;
  }
  std::string_view text(std::size_t at, std::size_t size) const {
    check(at, size);
    return {reinterpret_cast<const char*>(bytes_.data + at), size};
  }
  /// Throws unless `size` bytes at `at` lie within the archive.
  void check(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size || size > bytes_.size - at) damaged(where_, "an entry lies past its end");
  }
  std::size_t size() const { return bytes_.size; }

 private:
  const Bytes& bytes_;
  const std::string& where_;
};

struct Directory {
  std::size_t at = 0;
  std::size_t count = 0;
};

/// Where the record that ends the directory is; a comment of up to 64 KiB may follow it.
std::optional<std::size_t> find_end(const Reader& reader) {
  constexpr std::size_t record = 22;
  constexpr std::size_t longest_comment = 0xffff;
  if (reader.size() < record) return std::nullopt;
  const std::size_t last = reader.size() - record;
  const std::size_t first = last > longest_comment ? last - longest_comment : 0;
  for (std::size_t at = last + 1; at-- > first;) {
    if (reader.number(at, 4) == directory_end &&
        reader.number(at + 20, 2) == reader.size() - at - record) {
      return at;
    }
  }
  return std::nullopt;
}

Directory find_directory(const Reader& reader, std::size_t end, const std::string& where) {
  std::uint64_t count = reader.number(end + 10, 2);
  std::uint64_t size = reader.number(end + 12, 4);
  std::uint64_t at = reader.number(end + 16, 4);
  const bool zip64 = count == in_zip64_16 || size == in_zip64_32 || at == in_zip64_32;
  constexpr std::size_t locator = 20;
  if (zip64 && end >= locator && reader.number(end - locator, 4) == zip64_locator) {
    const std::uint64_t record = reader.number(end - locator + 8, 8);
    reader.check(record, 56);
    if (reader.number(record, 4) != zip64_end) damaged(where, "no zip64 record where it should be");
    count = reader.number(record + 32, 8);
    size = reader.number(record + 40, 8);
    at = reader.number(record + 48, 8);
  }
  reader.check(at, size);
  return {.at = at, .count = count};
}

/// Sizes and offset beyond 32 bits are in the extra field 1, only those that need it, in this
/// order.
void read_zip64(const Reader& reader, std::size_t at, std::size_t size, ZipMember& member,
                const std::string& where) {
  std::size_t* const values[] = {&member.size, &member.packed_size, &member.header_at};
  if (std::none_of(std::begin(values), std::end(values),
                   [](const std::size_t* value) { return *value == in_zip64_32; })) {
    return;
  }
  for (const std::size_t end = at + size; at + 4 <= end;) {
    const std::uint64_t id = reader.number(at, 2);
    const std::size_t length = reader.number(at + 2, 2);
    at += 4;
    if (length > end - at) break;
    if (id == 1) {
      const std::size_t last = at + length;
      for (std::size_t* const value : values) {
        if (*value != in_zip64_32) continue;
        if (at + 8 > last) damaged(where, "a zip64 size is missing");
        *value = reader.number(at, 8);
        at += 8;
      }
      return;
    }
    at += length;
  }
  // A size of exactly 2^32-1 needs no zip64 record; whether it is true is checked with the data.
}

}  // namespace

std::vector<ZipMember> zip_members(const Bytes& bytes, const std::string& where) {
  const Reader reader(bytes, where);
  const std::optional<std::size_t> end = find_end(reader);
  if (!end) {
    const bool zip = bytes.size >= 4 && reader.number(0, 4) == local_header;
    const FileKind kind = file_kind(bytes.data, bytes.size);
    throw Error(Complaint{
        .what = zip ? "truncated zip archive" : "not a zip archive, which .npz is",
        .where = where,
        .expected = zip ? "a directory of its members at its end" : "PK as its first bytes",
        .got = zip ? "none in " + bytes_text(static_cast<double>(bytes.size)) : kind.what,
        .hint = zip ? "" : kind.hint});
  }
  const Directory directory = find_directory(reader, *end, where);
  std::vector<ZipMember> members;
  std::size_t at = directory.at;
  constexpr std::size_t fixed = 46;
  for (std::size_t i = 0; i < directory.count; ++i) {
    reader.check(at, fixed);
    if (reader.number(at, 4) != directory_entry)
      damaged(where, "its directory is not where it says");
    ZipMember member;
    member.flags = static_cast<std::uint16_t>(reader.number(at + 8, 2));
    member.method = static_cast<std::uint16_t>(reader.number(at + 10, 2));
    member.crc = static_cast<std::uint32_t>(reader.number(at + 16, 4));
    member.packed_size = reader.number(at + 20, 4);
    member.size = reader.number(at + 24, 4);
    member.header_at = reader.number(at + 42, 4);
    const std::size_t name_size = reader.number(at + 28, 2);
    const std::size_t extra_size = reader.number(at + 30, 2);
    const std::size_t comment_size = reader.number(at + 32, 2);
    member.name = std::string(reader.text(at + fixed, name_size));
    reader.check(at + fixed + name_size, extra_size + comment_size);
    read_zip64(reader, at + fixed + name_size, extra_size, member, where);
    at += fixed + name_size + extra_size + comment_size;
    members.push_back(std::move(member));
  }
  return members;
}

Bytes zip_data(const Bytes& bytes, const ZipMember& member, const std::string& where) {
  constexpr std::uint16_t encrypted = 1;
  if ((member.flags & encrypted) != 0) {
    throw Error(Complaint{.what = "encrypted member of a zip archive", .where = where});
  }
  if (member.method != 0 && member.method != 8) {
    throw Error(Complaint{.what = "compression that qkv does not read",
                          .where = where,
                          .expected = "stored (method 0) or deflated (8), as NumPy writes",
                          .got = "method " + std::to_string(member.method)});
  }
  const Reader reader(bytes, where);
  constexpr std::size_t fixed = 30;
  reader.check(member.header_at, fixed);
  if (reader.number(member.header_at, 4) != local_header) {
    damaged(where, "no member where the directory says");
  }
  // Sizes here may be 0 and follow the data: those of the directory count. The names may differ in
  // length from the directory's, and the extra fields do.
  const std::size_t data_at = member.header_at + fixed + reader.number(member.header_at + 26, 2) +
                              reader.number(member.header_at + 28, 2);
  reader.check(data_at, member.packed_size);
  if (member.method == 0 && member.packed_size != member.size) {
    damaged(where, "a stored member has two sizes");
  }
  return {.data = bytes.data + data_at, .size = member.packed_size, .owner = bytes.owner};
}

}  // namespace qkv
