// Heat map as PNG: the panels as blocks of equal pixels; the only file that knows libpng.
#include <png.h>

#include <algorithm>
#include <limits>

#include "qkv/base/error.hpp"
#include "qkv/report/heat.hpp"
#include "report/heat_parts.hpp"

namespace qkv {

namespace {

constexpr std::size_t gap = 8;          // white pixels between panels
constexpr std::size_t good_side = 768;  // of a small picture, whose cells are made larger
constexpr std::size_t largest_cell = 32;
constexpr std::size_t most_side = 4096;

class Pixels {
 public:
  Pixels(std::size_t width, std::size_t height)
      : width_(width), height_(height), bytes_(3 * width * height, 255) {}

  void fill(std::size_t x, std::size_t y, std::size_t side, Rgb colour) {
    for (std::size_t row = y; row < y + side; ++row) {
      for (std::size_t column = x; column < x + side; ++column) {
        png_byte* pixel = &bytes_[3 * (row * width_ + column)];
        pixel[0] = colour.r;
        pixel[1] = colour.g;
        pixel[2] = colour.b;
      }
    }
  }

  std::string png() const {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width_);
    image.height = static_cast<png_uint_32>(height_);
    image.format = PNG_FORMAT_RGB;
    // The bound is of an image that cannot be compressed at all.
    std::string file(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
    png_alloc_size_t size = file.size();
    if (png_image_write_to_memory(&image, file.data(), &size, 0, bytes_.data(), 0, nullptr) == 0) {
      throw Error(
          Complaint{.what = "cannot make the picture", .where = "PNG", .got = image.message});
    }
    file.resize(size);
    return file;
  }

 private:
  std::size_t width_, height_;
  std::vector<png_byte> bytes_;
};

}  // namespace

HeatLimits png_limits(const Matrices& matrices) {
  const std::size_t side = std::max<std::size_t>(most_side / square_across(matrices.at.size()), 1);
  return {.rows = side, .columns = side};
}

std::string heat_png(const HeatMap& map) {
  const ColourMap colours = colour_map(map.scale);
  const std::size_t panels = map.panels.size(), across = square_across(panels);
  const std::size_t down = (panels + across - 1) / across;
  const std::size_t cells = std::max(across * map.columns, down * map.rows);
  const std::size_t cell = std::clamp<std::size_t>(good_side / cells, 1, largest_cell);
  const std::size_t step_x = map.columns * cell + gap, step_y = map.rows * cell + gap;
  Pixels pixels(across * step_x - gap, down * step_y - gap);
  for (std::size_t n = 0; n < panels; ++n) {
    const std::size_t left = n % across * step_x, top = n / across * step_y;
    for (std::size_t at = 0; at < map.panels[n].cells.size(); ++at) {
      pixels.fill(left + at % map.columns * cell, top + at / map.columns * cell, cell,
                  cell_colour(map.panels[n].cells[at], map.scale, colours));
    }
  }
  return pixels.png();
}

}  // namespace qkv
