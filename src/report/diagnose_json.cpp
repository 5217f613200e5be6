// diagnose as JSON, schema qkv.diagnose/1.
#include "qkv/base/json.hpp"
#include "qkv/report/diagnose_report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

namespace {

Json step_json(const ChainStep& step) {
  Json checks = Json::array();
  for (const CheckResult& check : step.checks) checks.push(check_json(check));
  return Json::object({{"step", step.step},
                       {"title", step.title},
                       {"status", name(step.status)},
                       {"line", step.line},
                       {"checks", checks}});
}

Json stage_finding_json(const StageFinding& stage) {
  Json object = Json::object({{"name", stage.id}, {"status", name(stage.status)}});
  object.add("max_abs", json_or_null(stage.max_abs)).add("max_rel", json_or_null(stage.max_rel));
  object.add("at", stage.at.empty() ? Json() : json_array(stage.at));
  return object;
}

Json fault_json(const FoundFault& fault) {
  return Json::object({{"id", fault.id},
                       {"stage", fault.stage},
                       {"residual", fault.residual},
                       {"explains", json_array(fault.explains)},
                       {"message", fault.message},
                       {"fix", fault.fix},
                       {"ties", json_array(fault.ties)}});
}

}  // namespace

std::string diagnose_json(const DiagnoseReport& report) {
  const Diagnosis& diagnosis = report.diagnosis;
  Json chain = Json::array(), stages = Json::array(), faults = Json::array(), blind = Json::array();
  for (const ChainStep& step : report.chain) chain.push(step_json(step));
  for (const StageFinding& stage : diagnosis.stages) stages.push(stage_finding_json(stage));
  for (const FoundFault& fault : diagnosis.faults) faults.push(fault_json(fault));
  for (const Blind& one : diagnosis.blind) {
    blind.push(Json::object({{"property", one.property},
                             {"hides", json_array(one.hides)},
                             {"show_with", one.show_with}}));
  }
  return Json::object({{"schema", "qkv.diagnose/1"},
                       {"chain", chain},
                       {"stages", stages},
                       {"first_divergence",
                        diagnosis.first_divergence ? Json(*diagnosis.first_divergence) : Json()},
                       {"faults", faults},
                       {"blind", blind},
                       {"status", name(report.status)}})
      .dump();
}

}  // namespace qkv
