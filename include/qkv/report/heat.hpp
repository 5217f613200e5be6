// Heat maps: matrices as pictures. heat_map() makes plain data of a tensor, heat_<form>() draw it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "qkv/report/report.hpp"
#include "qkv/tensor/array.hpp"

namespace qkv {

/// What a cell shows. In HeatPanel::cells, -Inf means hidden, NaN and +Inf are themselves.
enum class CellKind { value, hidden, nan, infinite };
CellKind kind_of(double cell);

/// Where a value lies between the two ends of a colour map.
struct HeatScale {
  double low = 0, high = 1;
  bool diverging() const { return low < 0 && high > 0; }
  /// 0 at low, 1 at high; where the scale is diverging, 0.5 at zero. Outside: the nearer end.
  double position(double value) const;
};

/// The matrices that a tensor holds: all of rank 2 and 3, those of the first batch row of rank 4.
struct Matrices {
  std::string name;                          ///< as the user wrote it
  Shape shape;                               ///< of the tensor
  Array array;                               ///< (matrices, rows, columns)
  std::vector<std::vector<std::size_t>> at;  ///< where each is in the tensor: [], [h] or [b,h]
  std::size_t rows() const { return array.shape[1]; }
  std::size_t columns() const { return array.shape[2]; }
};

/// throws  Error calling the tensor `name`: rank 0, 1 or above 4, or no elements
Matrices matrices_of(const Array& array, const std::string& name);

/// Words beside the rows and columns; empty, or one each.
struct HeatLabels {
  std::vector<std::string> rows = {}, columns = {};
  bool any() const { return !rows.empty() || !columns.empty(); }
};

/// The greatest number of cells to draw.
struct HeatLimits {
  std::size_t rows = 0, columns = 0;
};

struct HeatOptions {
  bool hide_zeros = false;  ///< elements of exactly 0 are hidden
  bool has_range = false;   ///< the scale is `range`, not made from the cells
  HeatScale range = {};
};

struct HeatPanel {
  std::vector<std::size_t> at;  ///< Matrices::at
  std::vector<double> cells;    ///< (rows, columns) of HeatMap, row-major
};

/// Ready to be drawn.
struct HeatMap {
  std::string name;
  Shape shape;
  DType dtype = DType::float32;
  std::size_t rows = 0, columns = 0;  ///< cells of a panel
  std::size_t matrix_rows = 0, matrix_columns = 0;
  std::size_t block_rows = 1, block_columns = 1;  ///< elements of a cell
  std::vector<HeatPanel> panels;
  HeatScale scale;
  double min = 0, max = 0;  ///< of the elements that are finite and not hidden; NaN where none is
  std::size_t hidden = 0, nan = 0, infinite = 0;  ///< elements
  bool zeros_are_hidden = false;
  HeatLabels labels;  ///< of the matrix's rows and columns; empty where cells are blocks

  bool averaged() const { return block_rows > 1 || block_columns > 1; }
  std::size_t cells() const { return panels.size() * rows * columns; }
};

/// cells[p,i,j] = mean of the elements of block (i,j) of matrix p that are finite and not hidden
///
/// shape   (P,R,C) -> P panels of at most limits.rows x limits.columns; blocks have
///         ceil(R/limits.rows) x ceil(C/limits.columns) elements, fewer at the last row and column
/// edge    a NaN in a block makes it NaN, else a +Inf makes it +Inf; a block is hidden if all of it
///         is. The scale: 0 to the greatest cell or, where one is negative, from minus to plus the
///         greatest absolute cell
HeatMap heat_map(const Matrices& matrices, const HeatLimits& limits, const HeatOptions& options,
                 const HeatLabels& labels);

/// What a terminal can show.
enum class ColourDepth { plain, ansi256, truecolour };

struct Terminal {
  ColourDepth depth = ColourDepth::plain;
  std::size_t width = 80;  ///< columns
};

/// How a heat map is laid out on a terminal.
struct TerminalLayout {
  enum class Cell {
    pair,  ///< two columns wide, one line high
    half   ///< one column wide, two cells a line; with colours only
  } cell = Cell::pair;
  std::size_t across = 1;  ///< panels side by side
  std::size_t header = 0;  ///< columns before the first panel, for labels or indices
  bool labelled = false;   ///< there is room for the labels
  HeatLimits limits = {};  ///< cells of a panel
};

/// Whole cells where they fit the width, half ones where only these do, blocks of elements where
/// none do.
TerminalLayout terminal_layout(const Matrices& matrices, const HeatLabels& labels,
                               const Terminal& terminal);

/// Title, panels and legend, every line at most as wide as the terminal (a title may be longer).
std::string heat_text(const HeatMap& map, const TerminalLayout& layout, const Terminal& terminal);

/// Schema qkv.show/1: the cells as numbers, null where they are none, beside what was counted.
std::string heat_json(const HeatMap& map, const std::vector<std::string>& outputs);

/// The greatest pictures that are drawn element by element; larger matrices are averaged.
HeatLimits svg_limits(const Matrices& matrices);
HeatLimits png_limits(const Matrices& matrices);

/// A picture with labels, titles and a scale bar; a cell is a <rect>, in the order of the cells.
std::string heat_svg(const HeatMap& map);

/// The panels alone, an RGB image: blocks of equal pixels, white between panels.
std::string heat_png(const HeatMap& map);

}  // namespace qkv
