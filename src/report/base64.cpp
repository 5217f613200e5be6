// Base64: three bytes as four letters.
#include "report/base64.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace qkv {

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t three = 0;
    for (std::size_t n = 0; n < 3; ++n)
      three = (three << 8) | (n < count ? std::to_integer<std::uint32_t>(bytes[at + n]) : 0);
    for (std::size_t n = 0; n < 4; ++n)
      text += n <= count ? letters[(three >> (18 - 6 * n)) & 63] : '=';
  }
  return text;
}

}  // namespace qkv
