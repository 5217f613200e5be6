// A PNG decoder of the tests' own, over zlib alone: chunks, checksums, filters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace qkv::test {

struct Png {
  std::size_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
  std::array<int, 3> at(std::size_t x, std::size_t y) const {
    const std::size_t pixel = 3 * (y * width + x);
    return {rgb[pixel], rgb[pixel + 1], rgb[pixel + 2]};
  }
};

/// throws  std::runtime_error unless it is a whole PNG of 8-bit RGB, not interlaced
/// source  the PNG specification, second edition (ISO 15948)
Png decoded_png(const std::string& file);

}  // namespace qkv::test
