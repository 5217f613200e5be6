// Text: shapes, sizes and numbers as users read them, and bytes made safe to print.
#include "qkv/base/text.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "qkv/base/error.hpp"

using namespace qkv;

TEST_CASE("shape_text, index_text: no blanks, rank 0 and 1 without Python's commas") {
  CHECK(shape_text({2, 4, 8}) == "(2,4,8)");
  CHECK(shape_text({8}) == "(8)");
  CHECK(shape_text({}) == "()");
  CHECK(index_text({0, 3, 7}) == "[0,3,7]");
  CHECK(index_text({}) == "[]");
}

TEST_CASE("bytes_text: three significant digits in powers of 1024") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(256) == "256 B");
  CHECK(bytes_text(2150) == "2.10 KiB");
  CHECK(bytes_text(1024 * 1024) == "1.00 MiB");
  CHECK(bytes_text(12.5 * 1024 * 1024) == "12.5 MiB");
  CHECK(bytes_text(3.4 * 1024 * 1024 * 1024) == "3.40 GiB");
  CHECK(bytes_text(1000) == "0.98 KiB");
}

TEST_CASE("number_text: the shortest text that reads back as the same number") {
  CHECK(number_text(0.5) == "0.5");
  CHECK(number_text(1e-6) == "1e-06");
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(INFINITY) == "inf");
  CHECK(number_text(-INFINITY) == "-inf");
  CHECK(number_text(std::nan("")) == "nan");
  for (const double value : {1.0 / 3, 5e-324, 1.7976931348623157e308, -123456789.123}) {
    CHECK(std::strtod(number_text(value).c_str(), nullptr) == value);
  }
}

TEST_CASE("short_number: four significant digits") {
  CHECK(short_number(0.9375) == "0.9375");
  CHECK(short_number(6.1e-8) == "6.1e-08");
  CHECK(short_number(123456) == "1.235e+05");
  CHECK(short_number(2) == "2");
  CHECK(short_number(std::nan("")) == "nan");
  CHECK(short_number(-INFINITY) == "-inf");
}

TEST_CASE("escaped: control bytes and broken UTF-8 become visible, letters stay") {
  CHECK(escaped("q.npy") == "q.npy");
  CHECK(escaped("größe") == "größe");
  CHECK(escaped("a\nb\x1b[31m") == "a\\x0ab\\x1b[31m");
  CHECK(escaped("\x7f") == "\\x7f");
  CHECK(escaped("\xff\xfe") == "\\xff\\xfe");
  CHECK(escaped("\xc3") == "\\xc3");           // cut inside a letter
  CHECK(escaped("\xc0\xaf") == "\\xc0\\xaf");  // an overlong slash
  CHECK(escaped("\xc2\x9b") == "\\xc2\\x9b");  // a C1 control: CSI
  CHECK(escaped(std::string_view("\0x", 2)) == "\\x00x");
}

TEST_CASE("escaped: surrogates, overlong forms and points beyond U+10FFFF are no UTF-8") {
  CHECK(escaped("\xed\xa0\x80") == "\\xed\\xa0\\x80");
  CHECK(escaped("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");
  CHECK(escaped("\xf0\x80\x80\xaf") == "\\xf0\\x80\\x80\\xaf");
  CHECK(escaped("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
}

TEST_CASE("escaped: a long text ends in dots") {
  CHECK(escaped("abcdef", 3) == "abc...");
  CHECK(escaped("abc", 3) == "abc");
}

TEST_CASE("listed: commas, and a word before the last") {
  CHECK(listed({}) == "");
  CHECK(listed({"a"}) == "a");
  CHECK(listed({"a", "b"}) == "a and b");
  CHECK(listed({"a", "b", "c"}, "or") == "a, b or c");
}

TEST_CASE("nearest: finds slips of the hand and makes nothing up") {
  const std::vector<std::string> flags{"--causal", "--heads", "--kv-heads", "--mask", "--q"};
  CHECK(nearest("--casual", flags) == "--causal");
  CHECK(nearest("--head", flags) == "--heads");
  CHECK(nearest("--maks", flags) == "--mask");
  CHECK(nearest("--temperature", flags).empty());
  CHECK(nearest("--causal", {}).empty());
}

TEST_CASE("parse_bytes: units of 1024 in the spellings that people use") {
  CHECK(parse_bytes("0", "--budget") == 0);
  CHECK(parse_bytes("512", "--budget") == 512);
  CHECK(parse_bytes("64K", "--budget") == 65536);
  CHECK(parse_bytes("2m", "--budget") == 2097152);
  CHECK(parse_bytes("1.5GiB", "--budget") == 1610612736);
  CHECK(parse_bytes("300MB", "--budget") == 314572800);
  CHECK(parse_bytes("7B", "--budget") == 7);
}

TEST_CASE("parse_bytes: what is no size is an error that names the flag") {
  for (const char* text : {"", "G", "-1", "12Q", "1iB", "nan", "inf", "1 G", "1GG", "0x10"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_bytes(text, "--budget"), Error);
  }
  try {
    parse_bytes("12Q", "--budget");
  } catch (const Error& error) {
    CHECK(error.complaints().front().where == "--budget");
    CHECK(error.complaints().front().got == "12Q");
  }
}
