// JSON parts: the configuration, one stage, one check.
#include "report/json_parts.hpp"

namespace qkv {

Json config_json(const std::vector<ConfigEntry>& entries) {
  Json config = Json::object();
  for (const ConfigEntry& entry : entries) {
    switch (entry.kind) {
      case ConfigEntry::Kind::text:
        config.add(entry.key, entry.text);
        break;
      case ConfigEntry::Kind::number:
        config.add(entry.key, json_number(entry.number));
        break;
      case ConfigEntry::Kind::flag:
        config.add(entry.key, entry.flag);
        break;
    }
  }
  return config;
}

Json stage_json(const StageRow& row) {
  Json stage = Json::object();
  stage.add("name", row.id)
      .add("shape", json_array(row.shape))
      .add("dims", json_array(row.dims))
      .add("dtype", name(row.dtype))
      .add("bytes", json_number(row.bytes));
  add_stats(stage, row.stats);
  return stage;
}

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

namespace {

/// A NaN becomes null, as where there is nothing to measure.
Json head_json(const HeadStatistics& head) {
  Json object = Json::object();
  object.add("head", head.head)
      .add("entropy", json_or_null(head.entropy))
      .add("entropy_share", json_or_null(head.entropy_share))
      .add("max", json_or_null(head.max))
      .add("self", json_or_null(head.self))
      .add("previous", json_or_null(head.previous))
      .add("first", json_or_null(head.first));
  return object;
}

}  // namespace

Json checked_json(std::string_view schema, const TraceReport& report) {
  Json stages = Json::array();
  for (const StageRow& row : report.stages) stages.push(stage_json(row));
  Json checks = Json::array();
  for (const CheckResult& check : report.checks) checks.push(check_json(check));
  Json document = Json::object();
  document.add("schema", schema)
      .add("config", config_json(report.config))
      .add("stages", std::move(stages));
  if (!report.heads.empty()) {
    Json heads = Json::array();
    for (const HeadStatistics& head : report.heads) heads.push(head_json(head));
    document.add("heads", std::move(heads));
  }
  document.add("checks", std::move(checks)).add("status", name(worst_status(report.checks)));
  return document;
}

}  // namespace qkv
