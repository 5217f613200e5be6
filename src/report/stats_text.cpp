// stats as text: a row per tensor, and bars for its histogram.
#include <fmt/format.h>

#include <algorithm>

#include "qkv/base/text.hpp"
#include "qkv/report/report.hpp"
#include "report/style.hpp"
#include "report/table.hpp"

namespace qkv {

namespace {

constexpr std::size_t longest_bar = 40;

/// A bar in proportion to count; one that counts anything is never empty.
std::string bar(std::size_t count, std::size_t most, const TextStyle& style) {
  if (count == 0) return "";
  const double share = static_cast<double>(count) / static_cast<double>(most);
  const auto length = static_cast<std::size_t>(share * longest_bar);
  std::string text;
  for (std::size_t n = 0; n < std::max<std::size_t>(length, 1); ++n) text += "█";
  return shown(text, style);
}

/// A line per bin: its edges, the bar, the count.
std::string histogram_lines(const StatsRow& row, const TextStyle& style) {
  const std::string title = fmt::format("\n{}\n", shown(escaped(row.name), style));
  const auto edges = histogram_edges(row.stats, row.histogram.size());
  if (edges.empty()) return title + "  no finite value\n";
  const std::size_t most = *std::max_element(row.histogram.begin(), row.histogram.end());
  Table table({{"", Table::Align::right},
               {"", Table::Align::left},
               {"", Table::Align::right},
               {"", Table::Align::right},
               {"", Table::Align::left}});
  for (std::size_t bin = 0; bin < row.histogram.size(); ++bin) {
    table.add({number_cell(edges[bin]), "to", number_cell(edges[bin + 1]),
               std::to_string(row.histogram[bin]), bar(row.histogram[bin], most, style)});
  }
  std::string text = title;
  for (const std::string& line : table.lines()) text += "  " + line + '\n';
  return text;
}

}  // namespace

std::string stats_text(const std::vector<StatsRow>& rows, const TextStyle& style) {
  const bool infinities = std::any_of(rows.begin(), rows.end(), [](const StatsRow& row) {
    return row.stats.pos_inf + row.stats.neg_inf > 0;
  });
  const StatsColumns stats(infinities);
  std::vector<Table::Column> columns{
      {"tensor"}, {"shape", Table::Align::right}, {"dtype"}, {"order"}};
  stats.add_titles(columns);
  columns.push_back({"size", Table::Align::right});

  Table table(columns);
  for (const StatsRow& row : rows) {
    std::vector<std::string> cells{shown(escaped(row.name), style), shape_text(row.shape),
                                   std::string(name(row.dtype)), row.order};
    stats.add_cells(row.stats, cells);
    const std::size_t bytes = element_count(row.shape) * size_of(row.dtype);
    cells.push_back(bytes_text(static_cast<double>(bytes)));
    table.add(std::move(cells));
  }
  std::string text = table.text();
  for (const StatsRow& row : rows) {
    if (!row.histogram.empty()) text += histogram_lines(row, style);
  }
  return text;
}

}  // namespace qkv
