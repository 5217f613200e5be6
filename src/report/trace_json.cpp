// trace as JSON, schema qkv.trace/1.
#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

namespace {

Json check_json(const CheckResult& check) {
  Json object = Json::object();
  object.add("id", check.id)
      .add("step", check.step)
      .add("stage", check.stage)
      .add("status", name(check.status))
      .add("value", json_or_null(check.value))
      .add("limit", json_or_null(check.limit))
      .add("at", check.at.empty() ? Json() : json_array(check.at))
      .add("message", check.message)
      .add("hint", json_or_null(check.hint));
  return object;
}

}  // namespace

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
