// stats as JSON, schema qkv.stats/1.
#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

std::string stats_json(const std::vector<StatsRow>& rows) {
  Json tensors = Json::array();
  for (const StatsRow& row : rows) {
    Json tensor = Json::object();
    tensor.add("name", row.name)
        .add("shape", json_array(row.shape))
        .add("dtype", name(row.dtype))
        .add("order", row.order);
    add_stats(tensor, row.stats);
    tensor.add("count", row.stats.count);
    tensor.add("bytes", element_count(row.shape) * size_of(row.dtype));
    if (!row.histogram.empty()) {
      Json histogram = Json::object();
      histogram.add("edges", json_array(histogram_edges(row.stats, row.histogram.size())))
          .add("counts", json_array(row.histogram));
      tensor.add("histogram", std::move(histogram));
    }
    tensors.push(std::move(tensor));
  }
  Json document = Json::object();
  document.add("schema", "qkv.stats/1").add("tensors", std::move(tensors));
  return document.dump();
}

}  // namespace qkv
