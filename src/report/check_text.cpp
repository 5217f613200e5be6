// check as text: the report of trace, on tensors from elsewhere.
#include "qkv/report/report.hpp"

namespace qkv {

std::string check_text(const TraceReport& report, const TextStyle& style) {
  return trace_text(report, style);
}

}  // namespace qkv
