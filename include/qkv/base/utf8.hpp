// UTF-8: code points out of bytes that somebody else wrote.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qkv {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  ///< bytes that it takes; 0 where the bytes are no UTF-8
};

/// The code point that begins at byte `at`. Longer forms than needed, surrogates and points beyond
/// U+10FFFF are no UTF-8.
///
/// source  RFC 3629, section 4; The Unicode Standard 14.0, table 3-7
CodePoint code_point_at(std::string_view bytes, std::size_t at);

/// throws  Error "no UTF-8" naming the first byte that is none, counted from 0: "`where`, byte N"
void require_utf8(std::string_view bytes, const std::string& where);

}  // namespace qkv
