// NumPy's print: brackets, line breaks and "..." around elements of equal width.
#include <algorithm>

#include "qkv/report/report.hpp"
#include "report/element_format.hpp"
#include "report/number_digits.hpp"

namespace qkv {

namespace {

class Printer {
 public:
  Printer(const Array& array, const PrintOptions& options)
      : array_(array),
        options_(options),
        summarised_(element_count(array.shape) > options.threshold),
        format_(
            array, [this](const auto& visit) { for_each_shown(0, array_.data, visit); },
            options.precision) {}

  std::string text() const { return nested(0, array_.data); }

 private:
  /// True where the axis is longer than its edges, so that its middle is left out.
  bool cut(std::size_t axis) const {
    return summarised_ && array_.shape[axis] > 2 * options_.edge_items;
  }

  const std::byte* at(std::size_t axis, const std::byte* start, std::size_t index) const {
    return start + array_.strides[axis] * static_cast<std::ptrdiff_t>(index);
  }

  void for_each_shown(std::size_t axis, const std::byte* start,
                      const std::function<void(const std::byte*)>& visit) const {
    if (axis == array_.shape.size()) return visit(start);
    const std::size_t size = array_.shape[axis];
    // With no edge items at all NumPy fits the widths to the whole axis.
    const bool gap = cut(axis) && options_.edge_items > 0;
    for (std::size_t index = 0; index < size; ++index) {
      if (gap && index == options_.edge_items) index = size - options_.edge_items;
      for_each_shown(axis + 1, at(axis, start, index), visit);
    }
  }

  /// The part of the array under `start`, whose axes before `axis` have been picked.
  std::string nested(std::size_t axis, const std::byte* start) const {
    const std::size_t size = array_.shape[axis];
    const bool gap = cut(axis);
    const std::size_t head = gap ? options_.edge_items : 0;
    const std::size_t tail = gap ? std::max<std::size_t>(options_.edge_items, 1) : size;
    return axis + 1 == array_.shape.size() ? row(axis, start, head, tail, gap)
                                           : block(axis, start, head, tail, gap);
  }

  std::string block(std::size_t axis, const std::byte* start, std::size_t head, std::size_t tail,
                    bool gap) const {
    const std::size_t size = array_.shape[axis];
    const std::string indent(axis + 1, ' ');
    const std::string between = std::string(array_.shape.size() - axis - 1, '\n') + indent;
    std::string text = "[";
    for (std::size_t index = 0; index < head; ++index)
      text += nested(axis + 1, at(axis, start, index)) + between;
    if (gap) text += "..." + between;
    for (std::size_t index = size - tail; index < size; ++index) {
      if (index > size - tail) text += between;
      text += nested(axis + 1, at(axis, start, index));
    }
    return text + "]";
  }

  /// Elements of the last axis; a word that would pass the width, brackets counted, opens a line.
  std::string row(std::size_t axis, const std::byte* start, std::size_t head, std::size_t tail,
                  bool gap) const {
    const std::size_t size = array_.shape[axis];
    const std::size_t indent = axis + 1;
    const std::size_t brackets = axis + 1;  // those that close behind the last word
    const std::size_t width = options_.line_width > brackets ? options_.line_width - brackets : 0;
    std::string text = "[";
    std::size_t column = indent;
    const auto add = [&](const std::string& word) {
      if (column + word.size() > width && column > indent) {
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n' + std::string(indent, ' ');
        column = indent;
      }
      text += word + ' ';
      column += word.size() + 1;
    };
    for (std::size_t index = 0; index < head; ++index) add(format_(at(axis, start, index)));
    if (gap) add("...");
    for (std::size_t index = size - tail; index < size; ++index)
      add(format_(at(axis, start, index)));
    text.back() = ']';
    return text;
  }

  const Array& array_;
  const PrintOptions& options_;
  bool summarised_;
  ElementFormat format_;
};

}  // namespace

std::string numpy_text(const Array& array, const PrintOptions& options) {
  if (element_count(array.shape) == 0) return "[]";
  if (array.shape.empty()) {
    // 64-bit integers do not fit the double of scalar_text().
    if (is_integer(array.dtype)) {
      const auto only = [&](const auto& visit) { visit(array.data); };
      return ElementFormat(array, only, options.precision)(array.data);
    }
    return scalar_text(element(array, 0), array.dtype);
  }
  return Printer(array, options).text();
}

}  // namespace qkv
