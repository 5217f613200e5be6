// embed as text: a row per token, then X.
#include <fmt/format.h>

#include "qkv/base/text.hpp"
#include "qkv/report/embed_report.hpp"
#include "report/style.hpp"
#include "report/table.hpp"

namespace qkv {

std::string embed_text(const EmbedReport& report, const TextStyle& style) {
  std::vector<Table::Column> columns = {
      {"l", Table::Align::right}, {"token"}, {"id", Table::Align::right}};
  if (report.batch) columns.insert(columns.begin(), {"b", Table::Align::right});
  Table table(columns);
  for (std::size_t b = 0; b < report.tokens.size(); ++b) {
    for (std::size_t l = 0; l < report.tokens[b].size(); ++l) {
      std::vector<std::string> cells = {std::to_string(l),
                                        shown(escaped(report.tokens[b][l]), style),
                                        std::to_string(report.ids[b][l])};
      if (report.batch) cells.insert(cells.begin(), std::to_string(b));
      table.add(std::move(cells));
    }
  }
  std::string text = fmt::format("vocabulary {}   x {} {}\n\n", report.vocab_size,
                                 shape_text(report.x.shape), report.batch ? "B,L,E" : "L,E");
  text += table.text();
  if (report.with_values) text += "\n" + numpy_text(report.x) + "\n";
  return text;
}

}  // namespace qkv
