// Heat characters: cells as letters that get denser, and as short numbers.
#include "report/heat_characters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace qkv {

namespace {

constexpr std::string_view ramp = ".:=+*#%@";  // from little ink to much

}  // namespace

std::string cell_number(double cell) {
  switch (kind_of(cell)) {
    case CellKind::hidden:
      return "-";
    case CellKind::nan:
      return "nan";
    case CellKind::infinite:
      return "inf";
    case CellKind::value:
      break;
  }
  return fmt::format("{:.3g}", cell == 0 ? 0 : cell);  // never "-0"
}

std::string cell_characters(double cell, const HeatScale& scale) {
  switch (kind_of(cell)) {
    case CellKind::hidden:
      return "  ";
    case CellKind::nan:
      return "??";
    case CellKind::infinite:
      return "^^";
    case CellKind::value:
      break;
  }
  const bool diverging = scale.diverging();
  const double position = scale.position(cell);
  const double share = diverging ? std::abs(position - 0.5) * 2 : position;
  const auto step = static_cast<std::size_t>(share * static_cast<double>(ramp.size()));
  const char letter = ramp[std::min(step, ramp.size() - 1)];
  return {diverging ? (cell < 0 ? '-' : ' ') : letter, letter};
}

std::string ramp_characters(const HeatScale& scale) {
  std::string text;
  const bool diverging = scale.diverging();
  if (diverging) {
    for (auto letter = ramp.rbegin(); letter != ramp.rend(); ++letter)
      text += std::string{'-', *letter};
  }
  for (const char letter : ramp) text += std::string{diverging ? ' ' : letter, letter};
  return text;
}

}  // namespace qkv
