// generate as text: what was written, and nothing else.
#include "qkv/base/text.hpp"
#include "qkv/report/generate_report.hpp"

namespace qkv {

std::string generate_text(const GenerateReport& report) {
  std::string shown;
  if (!report.text) {
    for (const std::size_t id : report.ids)
      shown += (shown.empty() ? "" : " ") + std::to_string(id);
    return shown + "\n";
  }
  std::string_view rest = *report.text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of("\n\t"), rest.size());
    shown += escaped(rest.substr(0, end), std::string::npos);
    if (end < rest.size()) shown += rest[end];
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return shown + "\n";
}

}  // namespace qkv
