// run as JSON, schema qkv.run/1: what came out, and where it went.
#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

std::string run_json(const TraceReport& report, const std::string& output,
                     const std::string& engine, const std::optional<FastReport>& fast) {
  Json document = Json::object({{"schema", "qkv.run/1"},
                                {"config", config_json(report.config)},
                                {"engine", engine},
                                {"output", json_or_null(output)}});
  if (fast) document.add("fast", fast_json(*fast));
  for (const StageRow& row : report.stages) document.add(row.id, stage_json(row));
  return document.dump();
}

}  // namespace qkv
