// trace as JSON, schema qkv.trace/1.
#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

std::string trace_json(const TraceReport& report) {
  Json stages = Json::array();
  for (const StageRow& row : report.stages) stages.push(stage_json(row));
  Json checks = Json::array();
  for (const CheckResult& check : report.checks) checks.push(check_json(check));
  Json document = Json::object();
  document.add("schema", "qkv.trace/1")
      .add("config", config_json(report.config))
      .add("stages", std::move(stages))
      .add("checks", std::move(checks))
      .add("status", name(worst_status(report.checks)));
  return document.dump();
}

}  // namespace qkv
