// generate as JSON, schema qkv.generate/1.
#include "qkv/base/json.hpp"
#include "qkv/report/generate_report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

std::string generate_json(const GenerateReport& report) {
  const std::size_t prompt = report.ids.size() - report.generated.size();
  Json steps = Json::array();
  for (std::size_t n = 0; n < report.generated.size(); ++n) {
    Json step = Json::object().add("id", report.ids[prompt + n]);
    step.add("token", report.tokens.empty() ? Json() : Json(report.tokens[prompt + n]));
    step.add("logit", report.generated[n].logit).add("p", report.generated[n].p);
    steps.push(std::move(step));
  }
  return Json::object()
      .add("schema", "qkv.generate/1")
      .add("text", report.text ? Json(*report.text) : Json())
      .add("tokens", report.tokens.empty() ? Json() : json_array(report.tokens))
      .add("ids", json_array(report.ids))
      .add("prompt_tokens", prompt)
      .add("steps", std::move(steps))
      .add("stopped", report.stopped)
      .dump();
}

}  // namespace qkv
