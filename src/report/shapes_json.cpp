// shapes as JSON, schema qkv.shapes/1.
#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

std::string shapes_json(const TraceReport& report) {
  Json stages = Json::array();
  for (const StageRow& row : report.stages) {
    stages.push(Json::object({{"name", row.id},
                              {"is", row.is},
                              {"shape", json_array(row.shape)},
                              {"dims", json_array(row.dims)}}));
  }
  return Json::object({{"schema", "qkv.shapes/1"},
                       {"config", config_json(report.config)},
                       {"stages", stages}})
      .dump();
}

}  // namespace qkv
