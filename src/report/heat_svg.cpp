// Heat map as SVG: a <rect> a cell, labels, titles and a scale bar.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "qkv/base/text.hpp"
#include "qkv/report/heat.hpp"
#include "report/heat_parts.hpp"
#include "report/markup.hpp"
#include "report/text_width.hpp"

namespace qkv {

namespace {

// All lengths are pixels.
constexpr double margin = 16, title_height = 22, heading_height = 26, legend_height = 58;
constexpr double column_of_text = 7.2;  // of 12-pixel letters, on the safe side
constexpr std::size_t longest_label = 24;
constexpr std::size_t most_hints = 4096;  // cells that say their value when pointed at

class SvgPicture {
 public:
  explicit SvgPicture(const HeatMap& map) : map_(map), colours_(colour_map(map.scale)) {
    const std::size_t side = std::max(map.rows, map.columns);
    across_ = square_across(map.panels.size());
    const double room = map.panels.size() > 1 ? 240 : 480;
    numbers_ = map.panels.size() == 1 && side <= 12 && !map.averaged();
    cell_ = numbers_ ? 48 : std::clamp(std::floor(room / static_cast<double>(side)), 2.0, 32.0);
    if (map.labels.any()) cell_ = std::max(cell_, 14.0);
    left_ = 8 + column_of_text * static_cast<double>(widest(true));
    above_ = 8 + column_of_text * static_cast<double>(widest(false));
  }

  std::string text() const {
    const double panel_width = left_ + static_cast<double>(map_.columns) * cell_;
    const double titles = map_.panels.size() > 1 ? title_height : 0;
    const double panel_height = titles + above_ + static_cast<double>(map_.rows) * cell_;
    const std::size_t down = (map_.panels.size() + across_ - 1) / across_;
    const auto across = static_cast<double>(std::min(across_, map_.panels.size()));
    const double width = std::max(420.0, margin + across * (panel_width + margin));
    const double height = margin + heading_height +
                          static_cast<double>(down) * (panel_height + margin) + legend_height;
    std::string svg = opening(width, height);
    for (std::size_t n = 0; n < map_.panels.size(); ++n) {
      const std::size_t line = n / across_;
      const double x = margin + static_cast<double>(n % across_) * (panel_width + margin);
      const double y =
          margin + heading_height + static_cast<double>(line) * (panel_height + margin);
      svg += fmt::format("<g class=\"panel\" transform=\"translate({:g},{:g})\">\n", x, y);
      svg += panel(map_.panels[n], titles);
      svg += "</g>\n";
    }
    return svg + legend(height - legend_height) + "</svg>\n";
  }

 private:
  std::size_t count(bool rows) const { return rows ? map_.rows : map_.columns; }
  std::string label(bool rows, std::size_t n) const {
    const std::string name = rows ? row_name(map_, n) : column_name(map_, n);
    return clipped(escaped(name, 4096), longest_label);
  }
  /// Numbers are written at some cells only, so that they do not touch.
  std::size_t step(bool rows) const {
    const bool labelled = !(rows ? map_.labels.rows : map_.labels.columns).empty();
    if (labelled || cell_ >= 14) return 1;
    return cell_ >= 3 ? 5 : 20;
  }
  std::size_t widest(bool rows) const {
    std::size_t columns = 0;
    for (std::size_t n = 0; n < count(rows); n += step(rows))
      columns = std::max(columns, display_width(label(rows, n)));
    return columns;
  }

  std::string opening(double width, double height) const {
    const std::string averaged = averaged_text(map_);
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 "
        "{0:g} {1:g}\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n",
        width, height);
    const std::string name = markup(map_.name);
    svg += fmt::format("<title>{} {}</title>\n", name, shape_text(map_.shape));
    svg += fmt::format("<desc>Heat map; {}{}{}</desc>\n", range_text(map_),
                       averaged.empty() ? "" : "; ", averaged);
    svg += "<defs>\n<linearGradient id=\"scale\">";
    constexpr int stops = 16;
    for (int n = 0; n <= stops; ++n) {
      const double position = static_cast<double>(n) / stops;
      svg += fmt::format("<stop offset=\"{:g}\" stop-color=\"{}\"/>", position,
                         hex(colours_.at(position)));
    }
    // In units of a cell.
    svg += fmt::format(
        "</linearGradient>\n<pattern id=\"hidden\" width=\"0.25\" height=\"0.25\" "
        "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"0.25\" "
        "height=\"0.25\" fill=\"#c8c8c8\"/><rect width=\"0.08\" height=\"0.25\" "
        "fill=\"{}\"/></pattern>\n</defs>\n",
        hex(hidden_colour));
    svg += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    return svg + fmt::format(
                     "<text x=\"{:g}\" y=\"{:g}\" font-size=\"14\" font-weight=\"bold\">{}<tspan "
                     "font-weight=\"normal\" fill=\"#555555\">  {}  {}</tspan></text>\n",
                     margin, margin + 14, name, shape_text(map_.shape), qkv::name(map_.dtype));
  }

  std::string fill(double cell) const {
    if (kind_of(cell) == CellKind::hidden) return "url(#hidden)";
    return hex(cell_colour(cell, map_.scale, colours_));
  }

  std::string panel(const HeatPanel& panel, double titles) const {
    std::string svg;
    if (titles > 0)
      svg += fmt::format("<text x=\"{:g}\" y=\"14\" font-weight=\"bold\">{}</text>\n", left_,
                         panel_title(map_, panel));
    const double top = titles + above_;
    for (std::size_t row = 0; row < map_.rows; row += step(true)) {
      svg +=
          fmt::format("<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"end\">{}</text>\n", left_ - 5,
                      top + (static_cast<double>(row) + 0.5) * cell_ + 4, markup(label(true, row)));
    }
    for (std::size_t column = 0; column < map_.columns; column += step(false)) {
      const double x = left_ + (static_cast<double>(column) + 0.5) * cell_ + 4;
      svg += fmt::format("<text transform=\"translate({:g},{:g}) rotate(-90)\">{}</text>\n", x,
                         top - 5, markup(label(false, column)));
    }
    svg += fmt::format(
        "<g class=\"cells\" transform=\"translate({:g},{:g}) scale({:g})\" "
        "shape-rendering=\"crispEdges\">\n",
        left_, top, cell_);
    for (std::size_t row = 0; row < map_.rows; ++row) {
      for (std::size_t column = 0; column < map_.columns; ++column)
        svg += rectangle(panel, row, column);
    }
    svg += "</g>\n";
    return numbers_ ? svg + numbers(panel, top) : svg;
  }

  std::string rectangle(const HeatPanel& panel, std::size_t row, std::size_t column) const {
    const double cell = panel.cells[row * map_.columns + column];
    std::string svg = fmt::format("<rect x=\"{}\" y=\"{}\" width=\"1\" height=\"1\" fill=\"{}\"",
                                  column, row, fill(cell));
    if (map_.cells() > most_hints) return svg + "/>\n";
    return svg + fmt::format("><title>{}, {}: {}</title></rect>\n", markup(row_name(map_, row)),
                             markup(column_name(map_, column)), cell_text(cell));
  }

  std::string numbers(const HeatPanel& panel, double top) const {
    std::string svg = "<g text-anchor=\"middle\" font-size=\"11\" pointer-events=\"none\">\n";
    for (std::size_t n = 0; n < panel.cells.size(); ++n) {
      const double cell = panel.cells[n];
      if (kind_of(cell) == CellKind::hidden) continue;
      const Rgb ink = ink_on(cell_colour(cell, map_.scale, colours_));
      const std::size_t whole_rows = n / map_.columns;
      const auto row = static_cast<double>(whole_rows);
      const auto column = static_cast<double>(n % map_.columns);
      svg += fmt::format(
          "<text x=\"{:g}\" y=\"{:g}\" fill=\"{}\">{}</text>\n", left_ + (column + 0.5) * cell_,
          top + (row + 0.5) * cell_ + 4, hex(ink),
          kind_of(cell) == CellKind::value ? fmt::format("{:.3g}", cell) : cell_text(cell));
    }
    return svg + "</g>\n";
  }

  /// The bar with its ends and, where it goes through zero, that; then what is outside it.
  std::string legend(double y) const {
    constexpr double bar = 200;
    std::string svg =
        fmt::format("<g class=\"legend\" transform=\"translate({:g},{:g})\">\n", margin, y);
    double x = 0;
    if (!std::isnan(map_.min)) {
      svg += fmt::format("<rect width=\"{:g}\" height=\"12\" fill=\"url(#scale)\"/>\n", bar);
      const auto tick = [&](double at, const char* anchor, double value) {
        svg += fmt::format("<text x=\"{:g}\" y=\"25\" text-anchor=\"{}\">{}</text>\n", at, anchor,
                           short_number(value));
      };
      tick(0, "start", map_.scale.low);
      if (map_.scale.diverging()) tick(bar / 2, "middle", 0);
      tick(bar, "end", map_.scale.high);
      x = bar + 20;
    }
    for (const KindText& kind : kinds_text(map_)) {
      const std::string paper =
          kind.kind == CellKind::hidden ? "url(#hidden)" : hex(kind_colour(kind.kind));
      svg += fmt::format(
          "<g transform=\"translate({:g},0) scale(12)\"><rect width=\"1\" height=\"1\" "
          "fill=\"{}\"/></g>\n<text x=\"{:g}\" y=\"10\">{}</text>\n",
          x, paper, x + 17, kind.text);
      x += 30 + column_of_text * static_cast<double>(kind.text.size());
    }
    const std::string averaged = averaged_text(map_);
    return svg + fmt::format("<text y=\"43\" fill=\"#555555\">{}{}{}</text>\n</g>\n",
                             range_text(map_), averaged.empty() ? "" : "; ", averaged);
  }

  const HeatMap& map_;
  ColourMap colours_;
  std::size_t across_ = 1;
  double cell_ = 1, left_ = 0, above_ = 0;
  bool numbers_ = false;
};

}  // namespace

HeatLimits svg_limits(const Matrices& matrices) {
  constexpr std::size_t most_cells = 65536;
  return limits_for(matrices.rows(), matrices.columns(), most_cells / matrices.at.size());
}

std::string heat_svg(const HeatMap& map) { return SvgPicture(map).text(); }

}  // namespace qkv
