// plan as JSON, schema qkv.plan/1.
#include "qkv/base/json.hpp"
#include "qkv/report/plan_report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

namespace {

Json growth_json(const Growth& growth, const std::string& name) {
  return Json::object(
      {{name, json_number(growth.now)}, {name + "_doubled", json_number(growth.doubled)}});
}

Json fit_json(const PlanFit& fit) {
  return Json::object({{"length", fit.length}, {"batch", fit.batch}});
}

}  // namespace

std::string plan_json(const PlanReport& report) {
  Json stages = Json::array();
  for (const PlanStage& stage : report.stages) {
    stages.push(Json::object({{"name", stage.id},
                              {"is", stage.is},
                              {"shape", json_array(stage.shape)},
                              {"dims", json_array(stage.dims)},
                              {"bytes", json_number(stage.bytes.now)},
                              {"bytes_doubled", json_number(stage.bytes.doubled)},
                              {"one_pass", stage.in_one_pass}}));
  }
  Json one_pass = growth_json(report.one_pass, "bytes");
  one_pass.add("working_bytes", json_number(report.working.now)).add("engine", report.engine);
  Json lengths = Json::array();
  if (report.both_lengths) lengths.push("L");
  lengths.push("S");
  return Json::object(
             {{"schema", "qkv.plan/1"},
              {"config", config_json(report.config)},
              {"stages", stages},
              {"memory", Json::object({{"step_by_step", growth_json(report.step_by_step, "bytes")},
                                       {"one_pass", one_pass}})},
              {"multiply_adds",
               Json::object({{"projections", growth_json(report.projections, "count")},
                             {"scores", growth_json(report.scores, "count")},
                             {"weighted_sum", growth_json(report.weighted_sum, "count")},
                             {"total", growth_json(report.multiply_adds(), "count")}})},
              {"twice_the_heads",
               Json::object({{"square_bytes", json_number(2 * report.square_bytes())},
                             {"square_bytes_now", json_number(report.square_bytes())}})},
              {"length",
               Json::object(
                   {{"axes", lengths}, {"now", report.length}, {"doubled", 2 * report.length}})},
              {"budget", Json::object({{"bytes", json_number(report.budget)},
                                       {"from", report.budget_from},
                                       {"step_by_step", fit_json(report.step_by_step_fits)},
                                       {"one_pass", fit_json(report.one_pass_fits)}})}})
      .dump();
}

}  // namespace qkv
