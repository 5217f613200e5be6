// Markup: any text made safe inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace qkv {

/// Text for the content or a quoted attribute of HTML or XML: & < > " ' as character references,
/// control bytes and bytes that are no UTF-8 as \xNN, and what XML 1.0 has no place for as U+FFFD.
std::string markup(std::string_view text);

/// A JSON document as the content of <script>: without any "<", which could end or open something.
std::string script_json(std::string json);

}  // namespace qkv
