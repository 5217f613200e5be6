// Part: NumPy's basic indexing on an Array, by moving its start and its strides.
#include "qkv/tensor/part.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

namespace {

constexpr std::string_view understood = "integers, slices a:b:c, '...' or None, joined by commas";

/// One entry between the commas.
struct Item {
  enum class Kind { index, slice, rest, new_axis } kind = Kind::index;
  std::optional<long long> first = {};  ///< the index, or a of a:b:c
  std::optional<long long> last = {};   ///< b
  std::optional<long long> step = {};   ///< c
};

/// What the entries picked so far, and what they are called in errors.
struct Picked {
  Array array;
  const std::string& name;  ///< "attn.npy[5,0]"
};

std::string_view trimmed(std::string_view text) {
  const auto space = [](char letter) {
    return std::isspace(static_cast<unsigned char>(letter)) != 0;
  };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> pieces;
  while (true) {
    const std::size_t end = text.find(at);
    pieces.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

/// An integer with an optional sign; one too large for 64 bits stands for the largest, which is out
/// of every axis as well.
std::optional<long long> integer(std::string_view text) {
  constexpr long long largest = 1LL << 62;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  long long value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    value = value > largest / 10 - 1 ? largest : value * 10 + (digit - '0');
  }
  return negative ? -value : value;
}

[[noreturn]] void malformed(const std::string& name, std::string_view got) {
  throw Error(Complaint{.what = "not an index",
                        .where = name,
                        .expected = std::string(understood),
                        .got = got.empty() ? "nothing" : "'" + escaped(got) + "'"});
}

Item parse_item(std::string_view text, const std::string& name) {
  if (text == "...") return {.kind = Item::Kind::rest};
  if (text == "None" || text == "newaxis" || text == "np.newaxis") {
    return {.kind = Item::Kind::new_axis};
  }
  const std::vector<std::string_view> pieces = split(text, ':');
  if (pieces.size() > 3) malformed(name, text);
  std::vector<std::optional<long long>> numbers(3);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].empty() && pieces.size() > 1) continue;
    numbers[i] = integer(pieces[i]);
    if (!numbers[i]) malformed(name, text);
  }
  if (pieces.size() == 1) return {.kind = Item::Kind::index, .first = numbers[0]};
  if (numbers[2] == 0) {
    throw Error(Complaint{.what = "a slice cannot have step 0", .where = name});
  }
  return {.kind = Item::Kind::slice, .first = numbers[0], .last = numbers[1], .step = numbers[2]};
}

std::vector<Item> parse_items(std::string_view part, const std::string& name) {
  if (part.size() < 2 || part.front() != '[' || part.back() != ']') malformed(name, part);
  std::vector<std::string_view> pieces = split(part.substr(1, part.size() - 2), ',');
  // Like Python, a comma may follow the last entry but not stand alone.
  if (pieces.size() > 1 && pieces.back().empty()) pieces.pop_back();
  std::vector<Item> items;
  items.reserve(pieces.size());
  for (const std::string_view piece : pieces) items.push_back(parse_item(piece, name));
  return items;
}

/// Moves the start by whole steps along `axis`. An array without elements has nowhere to move to.
void advance(Array& array, std::size_t axis, long long steps) {
  if (element_count(array.shape) > 0) array.data += steps * array.strides[axis];
}

/// Takes one index of `axis` away: the axis goes, the start moves.
void pick_index(Picked& picked, std::size_t axis, std::size_t axis_of_file, long long index) {
  Array& array = picked.array;
  const auto size = static_cast<long long>(array.shape[axis]);
  if (index < -size || index >= size) {
    const std::string range = std::to_string(-size) + ".." + std::to_string(size - 1);
    throw Error(Complaint{.what = "index out of bounds",
                          .where = picked.name + ", axis " + std::to_string(axis_of_file),
                          .expected = size == 0 ? "no index, as the axis has size 0" : range,
                          .got = std::to_string(index)});
  }
  advance(array, axis, index < 0 ? index + size : index);
  array.shape.erase(array.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  array.strides.erase(array.strides.begin() + static_cast<std::ptrdiff_t>(axis));
}

/// a:b:c as Python's slice.indices() settles it.
void pick_slice(Array& array, std::size_t axis, const Item& item) {
  const auto size = static_cast<long long>(array.shape[axis]);
  const long long step = item.step.value_or(1);
  const long long lowest = step > 0 ? 0 : -1;
  const long long highest = step > 0 ? size : size - 1;
  const auto settled = [&](const std::optional<long long>& bound, long long absent) {
    if (!bound) return absent;
    return std::clamp(*bound < 0 ? *bound + size : *bound, lowest, highest);
  };
  const long long first = settled(item.first, step > 0 ? lowest : highest);
  const long long last = settled(item.last, step > 0 ? highest : lowest);
  const long long span = step > 0 ? last - first : first - last;
  const long long count = span <= 0 ? 0 : (span - 1) / (step > 0 ? step : -step) + 1;
  // Only where two elements are taken is the step below the size, and the products below in range.
  if (count > 0) advance(array, axis, first);
  if (count > 1) array.strides[axis] *= step;
  array.shape[axis] = static_cast<std::size_t>(count);
}

}  // namespace

Array part_of(const Array& array, std::string_view part, const std::string& where) {
  const std::string name = where + escaped(part);
  const std::vector<Item> items = parse_items(trimmed(part), name);
  std::size_t taken = 0;
  std::size_t rests = 0;
  for (const Item& item : items) {
    if (item.kind == Item::Kind::index || item.kind == Item::Kind::slice) ++taken;
    if (item.kind == Item::Kind::rest) ++rests;
  }
  if (rests > 1) {
    throw Error(Complaint{.what = "more than one '...'",
                          .where = name,
                          .expected = "one",
                          .got = std::to_string(rests)});
  }
  const std::size_t rank = array.shape.size();
  if (taken > rank) {
    throw Error(Complaint{.what = "too many indices",
                          .where = name,
                          .expected = "at most " + std::to_string(rank) + " as the shape is " +
                                      shape_text(array.shape),
                          .got = std::to_string(taken)});
  }

  Picked picked{.array = array, .name = name};
  std::size_t axis = 0;          // of the result
  std::size_t axis_of_file = 0;  // what users count, in errors
  for (const Item& item : items) {
    switch (item.kind) {
      case Item::Kind::rest:
        axis += rank - taken;
        axis_of_file += rank - taken;
        break;
      case Item::Kind::new_axis: {
        const auto at = static_cast<std::ptrdiff_t>(axis++);
        picked.array.shape.insert(picked.array.shape.begin() + at, 1);
        picked.array.strides.insert(picked.array.strides.begin() + at, 0);
        break;
      }
      case Item::Kind::index:
        pick_index(picked, axis, axis_of_file++, *item.first);
        break;
      case Item::Kind::slice:
        pick_slice(picked.array, axis++, item);
        ++axis_of_file;
        break;
    }
  }
  return picked.array;
}

std::pair<std::string, std::string> split_part(const std::string& argument) {
  const std::size_t bracket = argument.rfind('[');
  if (bracket == std::string::npos || bracket == 0 || argument.back() != ']') return {argument, ""};
  return {argument.substr(0, bracket), argument.substr(bracket)};
}

}  // namespace qkv
