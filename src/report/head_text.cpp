// Head statistics as text: a row per head, and what they do not prove.
#include "report/head_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/style.hpp"
#include "report/table.hpp"

namespace qkv {

namespace {

/// More heads than fit a screen are left to --json.
constexpr std::size_t most_shown = 16;

std::string cell(const std::optional<double>& value) {
  return number_cell(value.value_or(std::numeric_limits<double>::quiet_NaN()));
}

std::string percent_cell(const std::optional<double>& share) {
  return share && std::isfinite(*share) ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

}  // namespace

std::string head_text(const std::vector<HeadStatistics>& heads) {
  using Align = Table::Align;
  Table table({{"head", Align::right},
               {"entropy", Align::right},
               {"of most", Align::right},
               {"greatest", Align::right},
               {"self", Align::right},
               {"previous", Align::right},
               {"first", Align::right}});
  const std::size_t shown = std::min(heads.size(), most_shown);
  for (std::size_t n = 0; n < shown; ++n) {
    const HeadStatistics& head = heads[n];
    table.add({std::to_string(head.head), cell(head.entropy), percent_cell(head.entropy_share),
               percent_cell(head.max), percent_cell(head.self), percent_cell(head.previous),
               percent_cell(head.first)});
  }
  std::string text = "head statistics, means over the queries\n" + table.text();
  if (shown < heads.size()) text += fmt::format("{} more, see --json\n", heads.size() - shown);
  return text +
         "where a head looks is no proof of what matters: out also depends on the values and on "
         "all that follows\n";
}

}  // namespace qkv
