// Style: ASCII spellings, status colours, cells.
#include "report/style.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <utility>

#include "qkv/base/text.hpp"

namespace qkv {

namespace {

constexpr std::pair<std::string_view, std::string_view> ascii_spellings[] = {
    {"·", "*"},   {"×", "x"},     {"ᵀ", "^T"},  {"²", "^2"}, {"±", "+-"},  {"−", "-"},
    {"–", "-"},   {"—", "-"},     {"…", "..."}, {"≤", "<="}, {"≥", ">="},  {"≠", "!="},
    {"≈", "~"},   {"∞", "inf"},   {"→", "->"},  {"←", "<-"}, {"Σ", "sum"}, {"∑", "sum"},
    {"∈", "in"},  {"“", "\""},    {"”", "\""},  {"‘", "'"},  {"’", "'"},   {"█", "#"},
    {"ε", "eps"}, {"θ", "theta"},
};

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '_';
}

/// Replaces what `text` starts with, appending to `out`; returns the bytes that it took.
std::size_t spell(std::string_view text, std::string& out) {
  constexpr std::string_view root = "√";
  if (text.starts_with(root)) {
    std::size_t end = root.size();
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view operand = text.substr(root.size(), end - root.size());
    out += operand.empty() ? "sqrt" : fmt::format("sqrt({})", operand);
    return end;
  }
  for (const auto& [unicode, ascii] : ascii_spellings) {
    if (text.starts_with(unicode)) {
      out += ascii;
      return unicode.size();
    }
  }
  out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
  return 1;
}

}  // namespace

std::string shown(std::string_view text, const TextStyle& style) {
  if (style.unicode) return std::string(text);
  std::string ascii;
  while (!text.empty()) {
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      ascii += text[0];
      text.remove_prefix(1);
    } else {
      text.remove_prefix(spell(text, ascii));
    }
  }
  return ascii;
}

std::string status_word(Status status, const TextStyle& style) {
  const std::string_view word = name(status);
  if (!style.colour) return std::string(word);
  const char* colour = status == Status::pass   ? "32"
                       : status == Status::warn ? "33"
                       : status == Status::fail ? "31"
                                                : "2";
  return fmt::format("\x1b[{}m{}\x1b[0m", colour, word);
}

std::string number_cell(double value) {
  if (std::isnan(value)) return "-";
  return short_number(value == 0 ? 0 : value);  // never "-0"
}

void StatsColumns::add_titles(std::vector<Table::Column>& columns) const {
  for (const char* title : {"min", "max", "mean", "std", "NaN"})
    columns.push_back({title, Table::Align::right});
  if (infinities_) {
    columns.push_back({"+Inf", Table::Align::right});
    columns.push_back({"-Inf", Table::Align::right});
  } else {
    columns.push_back({"Inf", Table::Align::right});
  }
}

void StatsColumns::add_cells(const Stats& stats, std::vector<std::string>& cells) const {
  for (const double number : {stats.min, stats.max, stats.mean, stats.std})
    cells.push_back(number_cell(number));
  cells.push_back(std::to_string(stats.nan));
  cells.push_back(std::to_string(stats.pos_inf));
  if (infinities_) cells.push_back(std::to_string(stats.neg_inf));
}

}  // namespace qkv
