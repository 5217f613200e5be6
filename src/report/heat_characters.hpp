// Heat characters: cells as letters that get denser, and as short numbers.
#pragma once

#include <string>

#include "qkv/report/heat.hpp"

namespace qkv {

/// Three significant digits; "-" where the cell is hidden.
std::string cell_number(double cell);

/// Two letters, the denser the higher on the scale; where it is diverging, a sign and a letter.
/// Blank where the cell is hidden, ?? for NaN and ^^ for +Inf.
std::string cell_characters(double cell, const HeatScale& scale);

/// All the letters, from the scale's low end to its high one.
std::string ramp_characters(const HeatScale& scale);

}  // namespace qkv
