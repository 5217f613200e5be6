// Shapes, indices, bytes and numbers as text.
#include "qkv/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>

#include "qkv/base/error.hpp"
#include "qkv/base/utf8.hpp"

namespace qkv {

namespace {

std::string joined(const std::vector<std::size_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string shape_text(const std::vector<std::size_t>& shape) {
  return fmt::format("({})", joined(shape));
}

std::string index_text(const std::vector<std::size_t>& index) {
  return fmt::format("[{}]", joined(index));
}

std::string bytes_text(double bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f} B", bytes);
  return fmt::format("{:.{}f} {}", bytes, bytes < 10 ? 2 : bytes < 100 ? 1 : 0, units[unit]);
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return fmt::format("{}", value);
}

std::string short_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return fmt::format("{:.4g}", value);
}

std::string escaped(std::string_view bytes, std::size_t most) {
  std::string safe;
  for (std::size_t at = 0; at < bytes.size();) {
    if (safe.size() >= most) return safe + "...";
    const std::size_t length = code_point_at(bytes, at).length;
    const auto byte = static_cast<unsigned char>(bytes[at]);
    if (length == 0 || byte < 0x20 || byte == 0x7f ||
        (length == 2 && byte == 0xc2 && static_cast<unsigned char>(bytes[at + 1]) < 0xa0)) {
      safe += fmt::format("\\x{:02x}", byte);
      ++at;
    } else {
      safe += bytes.substr(at, length);
      at += length;
    }
  }
  return safe;
}

std::string listed(const std::vector<std::string>& words, std::string_view last_joint) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? fmt::format(" {} ", last_joint) : ", ";
    text += words[i];
  }
  return text;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // The beginning of a longer word is that word: "torch" is torch-sdpa.
  for (const std::string& candidate : candidates) {
    if (word.size() >= 3 && candidate.size() > word.size() && candidate.starts_with(word))
      return candidate;
  }
  std::string best;
  // A third of the letters may be wrong, two at least: "--casual" is --causal, "--foo" is nothing.
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least && distance < candidate.size()) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

double parse_bytes(std::string_view text, const std::string& where) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit(end, text.data() + text.size());
  for (char& letter : unit)
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  static constexpr std::string_view prefixes = "KMGT";
  double factor = 1;
  if (!unit.empty() && prefixes.find(unit[0]) != std::string_view::npos) {
    factor = std::pow(1024.0, static_cast<double>(prefixes.find(unit[0]) + 1));
    unit.erase(0, 1);
  }
  if (failure != std::errc() || !std::isfinite(number) || number < 0 ||
      !(unit.empty() || unit == "B" || (unit == "IB" && factor > 1))) {
    throw Error(Complaint{.what = "not a size",
                          .where = where,
                          .expected = "a number with an optional unit, such as 512M or 1.5GiB",
                          .got = escaped(text)});
  }
  return number * factor;
}

}  // namespace qkv
