// Table: cells padded to the width of their column.
#include "report/table.hpp"

#include <algorithm>

namespace qkv {

std::vector<std::string> Table::lines() const {
  std::vector<std::string> titles;
  bool titled = false;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    titled = titled || !column.title.empty();
  }
  std::vector<std::vector<std::string>> rows = rows_;
  if (titled) rows.insert(rows.begin(), titles);

  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows) {
    for (std::size_t n = 0; n < row.size(); ++n)
      widths[n] = std::max(widths[n], display_width(row[n]));
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (n > 0) line += "  ";
      const std::string padding(widths[n] - display_width(row[n]), ' ');
      line += columns_[n].align == Align::right ? padding + row[n] : row[n] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string Table::text() const {
  std::string text;
  for (const std::string& line : lines()) text += line + '\n';
  return text;
}

}  // namespace qkv
