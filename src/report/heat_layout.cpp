// Terminal layout: how large a cell may be, and how many panels stand side by side.
#include <algorithm>

#include "qkv/report/heat.hpp"
#include "report/heat_parts.hpp"
#include "report/text_width.hpp"

namespace qkv {

namespace {

using Cell = TerminalLayout::Cell;

constexpr std::size_t narrowest_panel = 8;     // "head 12" is its title
constexpr std::size_t narrowest_average = 24;  // a panel of blocks needs some to be a picture
constexpr std::size_t most_lines = 128;        // of a matrix whose columns fit

std::size_t columns_of(Cell cell) { return cell == Cell::pair ? 2 : 1; }

/// Columns that row labels, or the numbers of the rows, and a blank take up.
std::size_t header_width(const Matrices& matrices, const HeatLabels& labels, bool labelled,
                         std::size_t width) {
  std::size_t widest = 0;
  if (labelled && !labels.rows.empty()) {
    for (const std::string& label : labels.rows) widest = std::max(widest, display_width(label));
    widest = std::min(widest, width / 4);
  } else if (matrices.at.size() == 1) {
    widest = std::to_string(matrices.rows() - 1).size();
  }
  return widest == 0 ? 0 : widest + 1;
}

std::size_t panel_width(std::size_t width, std::size_t across) {
  const std::size_t gaps = (across - 1) * panel_gap;
  return width > gaps ? (width - gaps) / across : 1;
}

/// The most panels side by side of which each is at least so wide; 0 where not even one is.
std::size_t panels_across(std::size_t panels, std::size_t width, std::size_t wanted) {
  const std::size_t least = std::max(wanted, panels > 1 ? narrowest_panel : 1);
  for (std::size_t across = panels; across > 0; --across) {
    if (panel_width(width, across) >= least) return across;
  }
  return 0;
}

}  // namespace

TerminalLayout terminal_layout(const Matrices& matrices, const HeatLabels& labels,
                               const Terminal& terminal) {
  const std::size_t panels = matrices.at.size(), columns = matrices.columns();
  const auto try_out = [&](Cell cell, bool labelled) {
    TerminalLayout layout{.cell = cell, .labelled = labelled};
    layout.header = header_width(matrices, labels, labelled, terminal.width);
    const std::size_t room = terminal.width - layout.header;
    layout.across = panels_across(panels, room, columns * columns_of(cell));
    const std::size_t lines = cell == Cell::half ? 2 * most_lines : most_lines;
    layout.limits = {.rows = lines, .columns = columns};
    return layout;
  };
  // A label takes a line and two columns.
  if (labels.any()) {
    const TerminalLayout layout = try_out(Cell::pair, true);
    if (layout.across > 0 && (labels.rows.empty() || matrices.rows() <= layout.limits.rows))
      return layout;
  }
  const bool half = terminal.depth != ColourDepth::plain;
  constexpr std::size_t small_grid = 16;
  if (panels == 1 || columns < small_grid || !half) {
    const TerminalLayout layout = try_out(Cell::pair, false);
    if (layout.across > 0) return layout;
  }
  if (half) {
    const TerminalLayout layout = try_out(Cell::half, false);
    if (layout.across > 0) return layout;
  }
  TerminalLayout layout = try_out(half ? Cell::half : Cell::pair, false);
  const std::size_t room = terminal.width - layout.header;
  layout.across = std::max<std::size_t>(panels_across(panels, room, narrowest_average), 1);
  const std::size_t cells = panel_width(room, layout.across) / columns_of(layout.cell);
  layout.limits = {.rows = std::max<std::size_t>(cells, 1),
                   .columns = std::max<std::size_t>(cells, 1)};
  return layout;
}

}  // namespace qkv
