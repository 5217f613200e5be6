// shapes as text: the chain of shapes, a row per stage.
#include <fmt/format.h>

#include "qkv/base/text.hpp"
#include "qkv/report/report.hpp"
#include "report/style.hpp"
#include "report/table.hpp"

namespace qkv {

std::string shapes_text(const TraceReport& report, const TextStyle& style) {
  Table table({{"stage"}, {"is"}, {"shape", Table::Align::right}, {"dims"}});
  for (const StageRow& row : report.stages) {
    table.add({row.id, shown(row.is, style), shape_text(row.shape),
               shown(fmt::format("{}", fmt::join(row.dims, ",")), style)});
  }
  return shown(report.headline, style) + "\n\n" + table.text();
}

}  // namespace qkv
