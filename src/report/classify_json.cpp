// classify as JSON, schema qkv.classify/1.
#include "qkv/base/json.hpp"
#include "qkv/report/classify_report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

namespace {

/// A list for each row of a batch, or that of the only row.
Json by_row(std::vector<Json> rows, bool batch) {
  if (rows.empty()) return {};
  return batch ? Json::array(std::move(rows)) : std::move(rows[0]);
}

}  // namespace

std::string classify_json(const ClassifyReport& report) {
  std::vector<Json> tokens, ids, classes;
  for (const auto& row : report.tokens) tokens.push_back(json_array(row));
  for (const auto& row : report.ids) ids.push_back(json_array(row));
  for (const auto& row : report.classes) {
    Json list = Json::array();
    for (const ClassProbability& c : row)
      list.push(Json::object().add("label", c.label).add("p", c.p));
    classes.push_back(std::move(list));
  }
  return Json::object()
      .add("schema", "qkv.classify/1")
      .add("tokens", by_row(std::move(tokens), report.batch))
      .add("ids", by_row(std::move(ids), report.batch))
      .add("classes", by_row(std::move(classes), report.batch))
      .dump();
}

}  // namespace qkv
