// What run --fast differs by from float32, for people and as JSON.
#include <fmt/format.h>

#include "qkv/base/text.hpp"
#include "report/json_parts.hpp"

namespace qkv {

std::string fast_text(const FastReport& report) {
  return fmt::format(
      "--fast bf16: {} relative error against float32 (root mean square), greatest difference {}, "
      "in {} rows of heads",
      short_number(report.rms_error), short_number(report.max_error), report.rows);
}

Json fast_json(const FastReport& fast) {
  return Json::object({{"dtype", "bfloat16"},
                       {"rms_error", fast.rms_error},
                       {"max_error", fast.max_error},
                       {"rows", fast.rows}});
}

}  // namespace qkv
