// Markup: any text made safe inside HTML and SVG.
#include "report/markup.hpp"

#include <limits>

#include "qkv/base/text.hpp"

namespace qkv {

namespace {

/// U+FFFE and U+FFFF, which XML 1.0 excludes (section 2.2), in UTF-8.
bool is_no_character(std::string_view text, std::size_t at) {
  return text.substr(at, 3) == "\xef\xbf\xbe" || text.substr(at, 3) == "\xef\xbf\xbf";
}

}  // namespace

std::string markup(std::string_view text) {
  const std::string printable = escaped(text, std::numeric_limits<std::size_t>::max());
  std::string safe;
  for (std::size_t at = 0; at < printable.size(); ++at) {
    switch (printable[at]) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        if (is_no_character(printable, at)) {
          safe += "\xef\xbf\xbd";
          at += 2;
        } else {
          safe += printable[at];
        }
    }
  }
  return safe;
}

std::string script_json(std::string json) {
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos; ++at)
    json.replace(at, 1, "\\u003c");
  return json;
}

}  // namespace qkv
