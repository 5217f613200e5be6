// Style: what a terminal can show, and numbers as table cells.
#pragma once

#include <string>
#include <string_view>

#include "qkv/report/report.hpp"
#include "report/table.hpp"

namespace qkv {

/// The text as it is or, without style.unicode, in ASCII: · becomes *, √4 sqrt(4), ᵀ ^T, ± +-; what
/// has no such spelling becomes \xNN, byte by byte.
std::string shown(std::string_view text, const TextStyle& style);

/// "pass", "warn", "fail" or "skip", in its colour where style.colour.
std::string status_word(Status status, const TextStyle& style);

/// Four significant digits; "-" for NaN, which stands for "no finite value" in a table.
std::string number_cell(double value);

/// Titles and cells from min to the infinities, shared by all tables of statistics. One column
/// "Inf" where there is none, "+Inf" and "-Inf" where there are some.
class StatsColumns {
 public:
  explicit StatsColumns(bool infinities) : infinities_(infinities) {}
  void add_titles(std::vector<Table::Column>& columns) const;
  void add_cells(const Stats& stats, std::vector<std::string>& cells) const;

 private:
  bool infinities_;
};

}  // namespace qkv
