// run --time as JSON, schema qkv.time/1.
#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

std::string time_json(const TimeReport& report) {
  Json compute = Json::object();
  compute.add("min", report.compute_min_s)
      .add("median", report.compute_median_s)
      .add("runs", report.runs);
  Json document = Json::object();
  document.add("schema", "qkv.time/1")
      .add("read_s", report.read_s)
      .add("compute_s", std::move(compute))
      .add("write_s", report.write_s)
      .add("gflops", report.gflops)
      .add("threads", report.threads)
      .add("engine", report.engine);
  if (report.fast) document.add("fast", fast_json(*report.fast));
  return document.dump();
}

}  // namespace qkv
