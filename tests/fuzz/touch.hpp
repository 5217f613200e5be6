// What every fuzz target does with what it read: touch every element, and nothing but Error may be
// thrown.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "qkv/base/error.hpp"
#include "qkv/io/format.hpp"
#include "qkv/tensor/array.hpp"

namespace qkv::fuzz {

/// Stops the target: a property does not hold.
inline void require(bool holds) {
  if (!holds) std::abort();
}

/// The input is the fuzzer's, and outlives what is read from it.
inline Bytes bytes_of(const std::uint8_t* data, std::size_t size) {
  return {.data = reinterpret_cast<const std::byte*>(data), .size = size, .owner = nullptr};
}

/// Every element, so that a sanitizer sees one that lies outside.
inline std::vector<double> touch(const Array& array) {
  std::vector<double> all(element_count(array.shape));
  copy_elements(array, all.data());
  return all;
}

/// Every tensor of a file, by each of its names and by none.
inline void read_all(const Format& format, const Bytes& bytes) {
  static_cast<void>(format.sniff(bytes));
  std::vector<std::string> names{"", "a"};
  try {
    for (const std::string& name : format.members(bytes, "x")) {
      names.push_back(name);
      if (names.size() > 16) break;
    }
  } catch (const Error&) {
  }
  for (const std::string& name : names) {
    try {
      touch(format.read(bytes, name, "x"));
    } catch (const Error&) {
    }
  }
}

}  // namespace qkv::fuzz
