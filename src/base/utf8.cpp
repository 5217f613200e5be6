// UTF-8: code points out of bytes that somebody else wrote.
#include "qkv/base/utf8.hpp"

#include <fmt/format.h>

#include "qkv/base/error.hpp"

namespace qkv {

CodePoint code_point_at(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(bytes[at + n]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > bytes.size() - at) return {};
  if (length == 1) return {first, 1};
  char32_t value = first & (0xffU >> (length + 1));
  for (std::size_t n = 1; n < length; ++n) {
    if ((byte(n) & 0xc0U) != 0x80) return {};
    value = (value << 6) | (byte(n) & 0x3fU);
  }
  const char32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  if (value < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return {};
  return {value, length};
}

void require_utf8(std::string_view bytes, const std::string& where) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = code_point_at(bytes, at).length;
    if (length == 0) {
      throw Error(Complaint{
          .what = "no UTF-8",
          .where = fmt::format("{}, byte {}", where, at),
          .expected = "UTF-8 text",
          .got = fmt::format("0x{:02x}", static_cast<unsigned char>(bytes[at])),
          .hint = "bytes are counted from 0; iconv -f ENCODING -t UTF-8 converts other encodings"});
    }
    at += length;
  }
}

}  // namespace qkv
