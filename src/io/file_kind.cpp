// What a file that is no tensor file seems to be.
#include "io/file_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "qkv/base/text.hpp"

namespace qkv {

namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view first_bytes;
  std::string_view what;
  std::string_view hint;
};

constexpr Signature signatures[] = {
    {"version https://git-lfs"sv, "text: a git-lfs pointer",
     "the file itself is in the large-file store: git lfs pull"},
    {"<!DOCTYPE"sv, "text: a web page", "the download saved a page in place of the file"},
    {"<html"sv, "text: a web page", "the download saved a page in place of the file"},
    {"\x93NUMPY"sv, "a .npy file", ""},
    {"PK\x03\x04"sv, "a zip archive", "a .npz on standard input is read as /dev/stdin:NAME"},
    {"PK\x05\x06"sv, "an empty zip archive", ""},
    {"\x1f\x8b"sv, "gzip data", "unpack it first with gunzip"},
    {"\x28\xb5\x2f\xfd"sv, "zstd data", "unpack it first with unzstd"},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file", "save its arrays as .npy"},
    {"GGUF"sv, "a GGUF file", "save its tensors as .npy or .safetensors"},
    {"\x80\x02"sv, "a Python pickle",
     "pickles are programs, not numbers, and are never loaded: save with numpy.save"},
    {"\x80\x03"sv, "a Python pickle",
     "pickles are programs, not numbers, and are never loaded: save with numpy.save"},
    {"\x80\x04"sv, "a Python pickle",
     "pickles are programs, not numbers, and are never loaded: save with numpy.save"},
    {"\x80\x05"sv, "a Python pickle",
     "pickles are programs, not numbers, and are never loaded: save with numpy.save"},
};

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return (byte >= 0x20 && byte != 0x7f) || byte == '\n' || byte == '\r' || byte == '\t';
  });
}

}  // namespace

FileKind file_kind(const std::byte* bytes, std::size_t size) {
  const std::string_view start(reinterpret_cast<const char*>(bytes),
                               std::min<std::size_t>(size, 512));
  if (start.empty()) return {.what = "nothing"};
  for (const Signature& known : signatures) {
    if (start.starts_with(known.first_bytes)) {
      return {.what = std::string(known.what), .hint = std::string(known.hint)};
    }
  }
  if (is_text(start)) {
    return {.what = "text, beginning '" + escaped(start.substr(0, start.find('\n')), 24) + "'"};
  }
  std::string hex;
  for (const char letter : start.substr(0, 8)) {
    hex += fmt::format("{}{:02x}", hex.empty() ? "" : " ", static_cast<unsigned char>(letter));
  }
  return {.what = "the bytes " + hex};
}

}  // namespace qkv
