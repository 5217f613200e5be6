// Rows of attn: words and weights.
#include "rows.hpp"

#include <fmt/format.h>

#include <limits>

namespace qkv::checks {

std::string out_of(std::size_t some, std::size_t all, std::string_view what) {
  return fmt::format("({} of {} {})", some, all, what);
}

double empty_weight(EmptyRows empty_rows, std::size_t S) {
  switch (empty_rows) {
    case EmptyRows::nan:
      return std::numeric_limits<double>::quiet_NaN();
    case EmptyRows::uniform:
      return 1.0 / static_cast<double>(S);
    case EmptyRows::zero:
      break;
  }
  return 0;
}

std::string empty_weight_text(EmptyRows empty_rows) {
  switch (empty_rows) {
    case EmptyRows::nan:
      return "NaN";
    case EmptyRows::uniform:
      return "1/S each";
    case EmptyRows::zero:
      break;
  }
  return "0";
}

}  // namespace qkv::checks
