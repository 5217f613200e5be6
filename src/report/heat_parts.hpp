// Heat parts: words that the pictures share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "qkv/report/heat.hpp"
#include "report/colour.hpp"

namespace qkv {

/// Blanks between two panels on a terminal.
inline constexpr std::size_t panel_gap = 2;

/// "head 3" in a tensor of rank 4, "[3]" in one of rank 3, "" where there is but one.
std::string panel_title(const HeatMap& map, const HeatPanel& panel);

/// The row's or column's label, or else its number in the matrix.
std::string row_name(const HeatMap& map, std::size_t row);
std::string column_name(const HeatMap& map, std::size_t column);

/// "each cell is the mean of 4x4 elements", or "" where none is.
std::string averaged_text(const HeatMap& map);

/// "min 0 max 1" in short numbers.
std::string range_text(const HeatMap& map);

/// What stands for the elements of a kind, and how many there are: "hidden (-inf): 15".
struct KindText {
  CellKind kind = CellKind::hidden;
  std::string text;
};
std::vector<KindText> kinds_text(const HeatMap& map);

/// The map that goes with the scale.
ColourMap colour_map(const HeatScale& scale);

/// The colour of cells that have no place on a scale.
Rgb kind_colour(CellKind kind);

/// The colour of a cell of any kind.
Rgb cell_colour(double cell, const HeatScale& scale, const ColourMap& colours);

/// "hidden", "NaN", "+Inf", or the number in four digits.
std::string cell_text(double cell);

/// The largest picture of about so many cells: whole where it has no more, else about square.
HeatLimits limits_for(std::size_t rows, std::size_t columns, std::size_t most_cells);

/// Panels in a row of a picture that is about square.
std::size_t square_across(std::size_t panels);

}  // namespace qkv
