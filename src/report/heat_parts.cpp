// Heat parts: words that the pictures share.
#include "report/heat_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "qkv/base/text.hpp"

namespace qkv {

namespace {

std::string name_of(const std::vector<std::string>& labels, std::size_t cell, std::size_t block) {
  if (block == 1 && cell < labels.size()) return labels[cell];
  return std::to_string(cell * block);
}

}  // namespace

std::string panel_title(const HeatMap& map, const HeatPanel& panel) {
  if (panel.at.empty()) return "";
  if (map.shape.size() == 4) return fmt::format("head {}", panel.at.back());
  return index_text(panel.at);
}

std::string row_name(const HeatMap& map, std::size_t row) {
  return name_of(map.labels.rows, row, map.block_rows);
}

std::string column_name(const HeatMap& map, std::size_t column) {
  return name_of(map.labels.columns, column, map.block_columns);
}

std::string averaged_text(const HeatMap& map) {
  if (!map.averaged()) return "";
  return fmt::format("a cell is the mean of {} by {} elements", map.block_rows, map.block_columns);
}

std::string range_text(const HeatMap& map) {
  if (std::isnan(map.min)) return "no finite value";
  return fmt::format("min {}  max {}", short_number(map.min), short_number(map.max));
}

std::vector<KindText> kinds_text(const HeatMap& map) {
  std::vector<KindText> kinds;
  const char* why = map.zeros_are_hidden ? "0 or -inf" : "-inf";
  if (map.hidden > 0)
    kinds.push_back({CellKind::hidden, fmt::format("hidden ({}): {}", why, map.hidden)});
  if (map.nan > 0) kinds.push_back({CellKind::nan, fmt::format("NaN: {}", map.nan)});
  if (map.infinite > 0)
    kinds.push_back({CellKind::infinite, fmt::format("+Inf: {}", map.infinite)});
  return kinds;
}

ColourMap colour_map(const HeatScale& scale) {
  return scale.diverging() ? ColourMap::diverging() : ColourMap::sequential();
}

Rgb kind_colour(CellKind kind) {
  return kind == CellKind::hidden ? hidden_colour
         : kind == CellKind::nan  ? nan_colour
                                  : infinite_colour;
}

Rgb cell_colour(double cell, const HeatScale& scale, const ColourMap& colours) {
  const CellKind kind = kind_of(cell);
  return kind == CellKind::value ? colours.at(scale.position(cell)) : kind_colour(kind);
}

std::string cell_text(double cell) {
  switch (kind_of(cell)) {
    case CellKind::hidden:
      return "hidden";
    case CellKind::nan:
      return "NaN";
    case CellKind::infinite:
      return "+Inf";
    case CellKind::value:
      break;
  }
  return short_number(cell == 0 ? 0 : cell);  // never "-0"
}

HeatLimits limits_for(std::size_t rows, std::size_t columns, std::size_t most_cells) {
  std::size_t side = 1;
  while ((side + 1) * (side + 1) <= most_cells) ++side;
  // What a short axis leaves unused, the long one may have.
  const std::size_t most_rows = columns < side ? most_cells / columns : side;
  const std::size_t most_columns = rows < side ? most_cells / rows : side;
  return {.rows = std::max<std::size_t>(most_rows, 1),
          .columns = std::max<std::size_t>(most_columns, 1)};
}

std::size_t square_across(std::size_t panels) {
  std::size_t across = 1;
  while (across * across < panels) ++across;
  return across;
}

}  // namespace qkv
