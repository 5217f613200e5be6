// trace as JSON, schema qkv.trace/1.
#include "qkv/report/report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

std::string trace_json(const TraceReport& report) {
  return checked_json("qkv.trace/1", report).dump();
}

}  // namespace qkv
