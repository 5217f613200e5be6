// Table: rows of cells, every column as wide as its widest cell.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/text_width.hpp"

namespace qkv {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title = {};
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell a column, in order.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// The titles, unless all are empty, and the rows; two blanks between columns, none at the end.
  std::vector<std::string> lines() const;

  /// The same, each line ended by a newline.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace qkv
