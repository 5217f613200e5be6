// FileKind: what a file that is no tensor file seems to be, for the error that refuses it.
#pragma once

#include <cstddef>
#include <string>

namespace qkv {

struct FileKind {
  std::string what;       ///< "text, beginning 'hello'", "an HDF5 file"
  std::string hint = {};  ///< what to do about it, or ""
};

/// Judges by the first bytes.
FileKind file_kind(const std::byte* bytes, std::size_t size);

}  // namespace qkv
