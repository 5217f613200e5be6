// embed as JSON, schema qkv.embed/1.
#include "qkv/base/json.hpp"
#include "qkv/report/embed_report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

std::string embed_json(const EmbedReport& report) {
  Json tokens = Json::array(), ids = Json::array();
  for (const auto& row : report.tokens) tokens.push(json_array(row));
  for (const auto& row : report.ids) ids.push(json_array(row));
  return Json::object()
      .add("schema", "qkv.embed/1")
      .add("tokens", report.batch ? tokens : tokens.items()[0])
      .add("ids", report.batch ? ids : ids.items()[0])
      .add("vocab_size", report.vocab_size)
      .add("shape", json_array(report.x.shape))
      .dump();
}

}  // namespace qkv
