// Rooms: memory for each thread to work in.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "qkv/tensor/array.hpp"

namespace qkv {

/// As many pieces of `bytes` bytes, each aligned to 64.
/// throws  Error when there is no such memory
class Rooms {
 public:
  Rooms(std::size_t count, std::size_t bytes) {
    for (std::size_t n = 0; n < count; ++n) rooms_.push_back(allocate_bytes(bytes));
  }
  unsigned char* operator[](std::size_t n) const {
    return reinterpret_cast<unsigned char*>(rooms_[n].get());
  }

 private:
  std::vector<std::shared_ptr<std::byte>> rooms_;
};

}  // namespace qkv
