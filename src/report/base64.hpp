// Base64: bytes as text, for numbers inside a page.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace qkv {

/// source  RFC 4648, section 4, with padding
std::string base64(std::span<const std::byte> bytes);

}  // namespace qkv
