// Format: one kind of tensor file, as a row of the table in format_list.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "qkv/tensor/array.hpp"

namespace qkv {

/// A whole file in memory: mapped read-only, or read from a pipe.
struct Bytes {
  const std::byte* data = nullptr;
  std::size_t size = 0;
  std::shared_ptr<const void> owner = nullptr;
};

struct Format {
  std::string_view name;        ///< "npy"
  std::string_view suffix;      ///< ".npy"
  bool (*sniff)(const Bytes&);  ///< the first bytes are this format's
  /// One tensor. `member` is what stood after the colon, "" for none.
  /// throws  Error that calls the file `where`
  Array (*read)(const Bytes&, std::string_view member, const std::string& where);
  /// The names of all tensors in the file, in order; {""} for a format that holds one.
  std::vector<std::string> (*members)(const Bytes&, const std::string& where);
};

/// All formats that can be read, in the order in which they are tried.
const std::vector<Format>& format_list();

}  // namespace qkv
