// Heat map on a terminal: in colours, or in characters that get denser.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "qkv/base/text.hpp"
#include "qkv/report/heat.hpp"
#include "report/heat_characters.hpp"
#include "report/heat_parts.hpp"
#include "report/painter.hpp"
#include "report/text_width.hpp"

namespace qkv {

namespace {

constexpr std::size_t tallest_label = 12;
constexpr std::size_t widest_number_column = 12;

class TextPicture {
 public:
  TextPicture(const HeatMap& map, const TerminalLayout& layout, const Terminal& terminal)
      : map_(map),
        layout_(layout),
        terminal_(terminal),
        colours_(colour_map(map.scale)),
        plain_(terminal.depth == ColourDepth::plain) {
    use_numbers_if_they_fit();
  }

  std::string text() {
    std::string text = fmt::format("{}  {}  {}\n\n", escaped(map_.name, 4096),
                                   shape_text(map_.shape), name(map_.dtype));
    for (std::size_t first = 0; first < map_.panels.size(); first += layout_.across) {
      const std::size_t end = std::min(first + layout_.across, map_.panels.size());
      std::vector<Painter> lines(lines_of_panel(), Painter(terminal_.depth));
      header(lines);
      for (std::size_t n = first; n < end; ++n) {
        const std::size_t start = layout_.header + (n - first) * (panel_columns() + panel_gap);
        for (Painter& line : lines) line.fill(start);
        panel(map_.panels[n], lines);
      }
      for (Painter& line : lines) text += without_end_blanks(line.take()) + '\n';
      text += '\n';
    }
    return text + legend();
  }

 private:
  static std::string without_end_blanks(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

  /// Where there is room for the number in every cell, it is shown.
  void use_numbers_if_they_fit() {
    if (map_.panels.size() > 1 || map_.averaged() || layout_.cell != TerminalLayout::Cell::pair)
      return;
    const std::size_t room = terminal_.width - layout_.header;
    const std::size_t extra = plain_ ? 4 : 2;  // blanks, and on a plain terminal the characters
    if (map_.columns * (1 + extra) > room) return;
    std::size_t widest = 0;
    for (const double cell : map_.panels[0].cells)
      widest = std::max(widest, cell_number(cell).size());
    for (std::size_t column = 0; column < map_.columns; ++column) {
      const std::size_t label = display_width(label_of_column(column));
      widest = std::max(widest, std::min(label, widest_number_column - extra));
    }
    if (map_.columns * (widest + extra) > room) return;
    number_columns_ = widest;
    cell_columns_ = widest + extra;
  }

  bool halves() const { return layout_.cell == TerminalLayout::Cell::half; }
  std::size_t cell_columns() const { return halves() ? 1 : cell_columns_; }
  std::size_t rows_of_cells() const { return halves() ? (map_.rows + 1) / 2 : map_.rows; }
  std::size_t panel_columns() const {
    std::size_t widest = map_.columns * cell_columns();
    for (const HeatPanel& panel : map_.panels)
      widest = std::max(widest, panel_title(map_, panel).size());
    return widest;
  }

  std::string label_of_row(std::size_t row) const {
    if (!layout_.labelled && map_.panels.size() > 1) return "";
    return escaped(row_name(map_, row), 4096);
  }
  std::string label_of_column(std::size_t column) const {
    return escaped(column_name(map_, column), 4096);
  }
  bool has_column_labels() const { return layout_.labelled && !map_.labels.columns.empty(); }

  /// Lines above the cells: the panel's title, then labels or numbers of the columns.
  std::size_t title_lines() const { return map_.panels.size() > 1 ? 1 : 0; }
  std::size_t column_label_lines() const {
    if (number_columns_ > 0) return 1;
    if (!has_column_labels()) return map_.panels.size() > 1 ? 0 : 1;
    std::size_t tallest = 1;
    for (std::size_t column = 0; column < map_.columns; ++column)
      tallest = std::max(tallest, glyphs(label_of_column(column)).size());
    return std::min(tallest, tallest_label);
  }
  std::size_t lines_above() const { return title_lines() + column_label_lines(); }
  std::size_t lines_of_panel() const { return lines_above() + rows_of_cells(); }

  void header(std::vector<Painter>& lines) const {
    if (layout_.header == 0) return;
    for (std::size_t n = 0; n < rows_of_cells(); ++n) {
      const std::size_t row = halves() ? 2 * n : n;
      const std::string label = clipped(label_of_row(row), layout_.header - 1);
      lines[lines_above() + n].put(padded_left(label, layout_.header - 1));
    }
  }

  void panel(const HeatPanel& panel, std::vector<Painter>& lines) const {
    if (title_lines() > 0) lines[0].put(panel_title(map_, panel));
    for (std::size_t n = 0; n < rows_of_cells(); ++n) {
      Painter& line = lines[lines_above() + n];
      if (halves()) {
        half_cells(panel, n, line);
      } else {
        whole_cells(panel, n, line);
      }
    }
    column_labels(lines);
  }

  void column_labels(std::vector<Painter>& lines) const {
    const std::size_t above = title_lines(), count = column_label_lines();
    if (number_columns_ > 0) {
      const std::size_t after = cell_columns_ - number_columns_ - (plain_ ? 0 : 1);
      for (std::size_t column = 0; column < map_.columns; ++column) {
        const std::string label = clipped(label_of_column(column), number_columns_);
        if (!plain_) lines[above].put(" ");
        lines[above].put(padded_left(label, number_columns_) + std::string(after, ' '));
      }
    } else if (has_column_labels()) {
      standing_labels(lines, above, count);
    } else if (count > 0) {
      ticks(lines[above]);
    }
  }

  /// A letter a line, down to the cells.
  void standing_labels(std::vector<Painter>& lines, std::size_t above, std::size_t count) const {
    for (std::size_t column = 0; column < map_.columns; ++column) {
      std::vector<Glyph> letters = glyphs(label_of_column(column));
      if (letters.size() > count) {
        letters.resize(count - 1);
        letters.push_back({"…", 1});
      }
      const std::size_t blank = count - letters.size();
      for (std::size_t n = 0; n < count; ++n) {
        const std::string letter = n < blank ? "" : letters[n - blank].text;
        lines[above + n].put(padded_right(letter, cell_columns()));
      }
    }
  }

  /// Every tenth column's number in the matrix, where there is room for it.
  void ticks(Painter& line) const {
    const std::size_t start = line.columns(), step = 10 / cell_columns();
    for (std::size_t column = 0; column < map_.columns; column += step) {
      const std::string number = std::to_string(column * map_.block_columns);
      const std::size_t at = column * cell_columns();
      if (at + number.size() > std::max(map_.columns * cell_columns(), number.size())) break;
      line.fill(start + at);
      if (line.columns() > start + at) continue;
      line.put(number);
    }
  }

  double cell(const HeatPanel& panel, std::size_t row, std::size_t column) const {
    return panel.cells[row * map_.columns + column];
  }
  Rgb colour(double cell) const { return cell_colour(cell, map_.scale, colours_); }

  /// A cell of two columns in colours: blank, but for what has no place on the scale.
  void swatch(Painter& line, CellKind kind, Rgb paper) const {
    const char* text = kind == CellKind::hidden ? "//" : kind == CellKind::nan ? "??" : "^^";
    line.put(kind == CellKind::value ? "  " : text, ink_on(paper), paper);
  }

  void whole_cells(const HeatPanel& panel, std::size_t row, Painter& line) const {
    for (std::size_t column = 0; column < map_.columns; ++column) {
      const double value = cell(panel, row, column);
      if (number_columns_ > 0) {
        const std::string digits = padded_left(cell_number(value), number_columns_);
        if (plain_) {
          line.put(digits + ' ' + cell_characters(value, map_.scale) + ' ');
        } else {
          line.put(' ' + digits + ' ', ink_on(colour(value)), colour(value));
        }
      } else if (plain_) {
        line.put(cell_characters(value, map_.scale));
      } else {
        swatch(line, kind_of(value), colour(value));
      }
    }
  }

  void half_cells(const HeatPanel& panel, std::size_t line_number, Painter& line) const {
    const std::size_t upper = 2 * line_number, lower = upper + 1;
    for (std::size_t column = 0; column < map_.columns; ++column) {
      const Rgb ink = colour(cell(panel, upper, column));
      if (lower < map_.rows) {
        line.put("▀", ink, colour(cell(panel, lower, column)));
      } else {
        line.put("▀", ink);
      }
    }
  }

  /// The scale from its low end to its high one, then what lies outside it.
  std::string legend() const {
    Painter line(terminal_.depth);
    if (!std::isnan(map_.min)) {
      constexpr std::size_t steps = 24;
      line.put(short_number(map_.scale.low) + ' ');
      if (plain_) {
        line.put(ramp_characters(map_.scale));
      } else {
        for (std::size_t n = 0; n < steps; ++n) {
          const double position = static_cast<double>(n) / static_cast<double>(steps - 1);
          line.put(" ", {}, colours_.at(position));
        }
      }
      line.put(' ' + short_number(map_.scale.high) + "   ");
    }
    for (const KindText& kind : kinds_text(map_)) kind_sample(line, kind);
    std::string text = without_end_blanks(line.take());
    if (!text.empty()) text += '\n';
    const std::string averaged = averaged_text(map_);
    return text + range_text(map_) + (averaged.empty() ? "" : "  " + averaged) + '\n';
  }

  void kind_sample(Painter& line, const KindText& kind) const {
    if (plain_) {
      const bool blank = kind.kind == CellKind::hidden;
      line.put(blank ? "blank" : kind.kind == CellKind::nan ? "??" : "^^");
    } else {
      swatch(line, kind.kind, kind_colour(kind.kind));
    }
    line.put(' ' + kind.text + "   ");
  }

  const HeatMap& map_;
  const TerminalLayout& layout_;
  const Terminal& terminal_;
  ColourMap colours_;
  bool plain_;
  std::size_t number_columns_ = 0;  ///< of the number in a cell; 0 where there is none
  std::size_t cell_columns_ = 2;
};

}  // namespace

std::string heat_text(const HeatMap& map, const TerminalLayout& layout, const Terminal& terminal) {
  return TextPicture(map, layout, terminal).text();
}

}  // namespace qkv
