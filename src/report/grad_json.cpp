// grad as JSON, schema qkv.grad/1.
#include <algorithm>

#include "qkv/report/grad_report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

namespace {

Json gradient_json(const GradRow& row) {
  Json gradient = Json::object();
  gradient.add("of", row.of)
      .add("shape", json_array(row.shape))
      .add("norm", row.norm)
      .add("max_abs", row.max_abs)
      .add("nan", row.nan)
      .add("inf", row.inf);
  return gradient;
}

Json comparison_json(const GradCheckRow& row) {
  Json check = Json::object();
  check.add("of", row.of)
      .add("max_rel", json_or_null(row.max_rel))
      .add("limit", json_or_null(row.limit))
      .add("status", name(row.status));
  return check;
}

Json finding_json(const CheckResult& finding) {
  Json object = Json::object();
  object.add("id", finding.id)
      .add("stage", finding.stage)
      .add("status", name(finding.status))
      .add("message", finding.message)
      .add("hint", json_or_null(finding.hint));
  return object;
}

Json clip_json(const GradClip& clip) {
  Json object = Json::object();
  object.add("max_norm", clip.max_norm)
      .add("norm", clip.norm)
      .add("factor", clip.factor)
      .add("of", json_array(clip.of));
  return object;
}

}  // namespace

Status worst_status(const GradReport& report) {
  const Status worst = worst_status(report.findings);
  const bool differs = std::ranges::any_of(
      report.check, [](const GradCheckRow& row) { return row.status == Status::fail; });
  return differs ? Status::fail : worst;
}

std::string grad_json(const GradReport& report) {
  Json grads = Json::array(), check = Json::array(), found = Json::array();
  for (const GradRow& row : report.grads) grads.push(gradient_json(row));
  for (const GradCheckRow& row : report.check) check.push(comparison_json(row));
  for (const CheckResult& finding : report.findings) found.push(finding_json(finding));
  Json document = Json::object();
  document.add("schema", "qkv.grad/1")
      .add("grads", std::move(grads))
      .add("check", std::move(check))
      .add("findings", std::move(found));
  if (report.clip) document.add("clip", clip_json(*report.clip));
  document.add("status", name(worst_status(report)));
  return document.dump();
}

}  // namespace qkv
