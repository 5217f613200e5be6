// UTF-8: what is a code point and which byte is none.
#include "qkv/base/utf8.hpp"

#include <catch2/catch.hpp>

#include "qkv/base/error.hpp"

using namespace qkv;

namespace {

std::string complaint(std::string_view bytes) {
  try {
    require_utf8(bytes, "TEXT");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("code_point_at: the first and last point of every length") {
  const std::pair<std::string_view, char32_t> points[] = {{{"\0", 1}, 0},
                                                          {"\x7f", 0x7f},
                                                          {"\xc2\x80", 0x80},
                                                          {"\xdf\xbf", 0x7ff},
                                                          {"\xe0\xa0\x80", 0x800},
                                                          {"\xed\x9f\xbf", 0xd7ff},
                                                          {"\xee\x80\x80", 0xe000},
                                                          {"\xef\xbf\xbf", 0xffff},
                                                          {"\xf0\x90\x80\x80", 0x10000},
                                                          {"\xf4\x8f\xbf\xbf", 0x10ffff}};
  for (const auto& [bytes, value] : points) {
    const CodePoint point = code_point_at(bytes, 0);
    CHECK(point.value == value);
    CHECK(point.length == bytes.size());
    CHECK(complaint(bytes).empty());
  }
  CHECK(code_point_at("aé", 1).value == 0xe9);
}

TEST_CASE(
    "code_point_at: longer forms than needed, surrogates and points beyond the last are none") {
  for (const std::string_view bytes :
       {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82",
        "\xf0\x9f\x99", "\xc3(", "\xe2(\xa1", "\xe2\x82("}) {
    CHECK(code_point_at(bytes, 0).length == 0);
  }
}

TEST_CASE("require_utf8: the first byte that is none is named, counted from 0") {
  CHECK(complaint("größe\xff ") == "no UTF-8 (TEXT, byte 7): expected UTF-8 text, got 0xff");
  CHECK(complaint("ab\xc3") == "no UTF-8 (TEXT, byte 2): expected UTF-8 text, got 0xc3");
  CHECK(complaint("").empty());
}
