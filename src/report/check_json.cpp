// check as JSON, schema qkv.check/1: the keys of trace.
#include "qkv/report/report.hpp"
#include "report/json_parts.hpp"

namespace qkv {

std::string check_json(const TraceReport& report) {
  return checked_json("qkv.check/1", report).dump();
}

}  // namespace qkv
