// A PNG decoder of the tests' own, over zlib alone.
#include "support/png.hpp"

#include <zlib.h>

#include <cstdlib>
#include <stdexcept>

namespace qkv::test {

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

std::uint32_t big_endian(const std::string& file, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t n = 0; n < 4; ++n)
    number = (number << 8) | static_cast<unsigned char>(file.at(at + n));
  return number;
}

/// The filter "Paeth": the neighbour nearest to left + up - corner.
int paeth(int left, int up, int corner) {
  const int guess = left + up - corner;
  const int a = std::abs(guess - left), b = std::abs(guess - up), c = std::abs(guess - corner);
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

std::vector<std::uint8_t> unfiltered(const std::vector<std::uint8_t>& lines, const Png& png) {
  const std::size_t stride = 3 * png.width;
  std::vector<std::uint8_t> rgb(stride * png.height);
  for (std::size_t y = 0; y < png.height; ++y) {
    const int filter = lines[y * (stride + 1)];
    for (std::size_t n = 0; n < stride; ++n) {
      const int left = n >= 3 ? rgb[y * stride + n - 3] : 0;
      const int up = y > 0 ? rgb[(y - 1) * stride + n] : 0;
      const int corner = y > 0 && n >= 3 ? rgb[(y - 1) * stride + n - 3] : 0;
      const int guesses[] = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
      require(filter < 5, "unknown filter");
      rgb[y * stride + n] =
          static_cast<std::uint8_t>(lines[y * (stride + 1) + 1 + n] + guesses[filter]);
    }
  }
  return rgb;
}

}  // namespace

Png decoded_png(const std::string& file) {
  require(file.starts_with("\x89PNG\r\n\x1a\n"), "no PNG signature");
  Png png;
  std::string packed;
  bool ended = false;
  for (std::size_t at = 8; at < file.size();) {
    const std::size_t length = big_endian(file, at);
    const std::string body = file.substr(at + 4, 4 + length), type = body.substr(0, 4);
    require(body.size() == 4 + length, "a chunk is cut off");
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
    require(sum == big_endian(file, at + 8 + length), "a checksum is wrong");
    if (type == "IHDR") {
      png.width = big_endian(body, 4);
      png.height = big_endian(body, 8);
      require(body.substr(12) == std::string("\x08\x02\x00\x00\x00", 5), "not 8-bit RGB");
    }
    if (type == "IDAT") packed += body.substr(4);
    ended = type == "IEND";
    at += 12 + length;
  }
  require(ended, "no end");
  std::vector<std::uint8_t> lines((3 * png.width + 1) * png.height);
  uLongf size = lines.size();
  require(uncompress(lines.data(), &size, reinterpret_cast<const Bytef*>(packed.data()),
                     packed.size()) == Z_OK &&
              size == lines.size(),
          "the pixels do not inflate to the size");
  png.rgb = unfiltered(lines, png);
  return png;
}

}  // namespace qkv::test
