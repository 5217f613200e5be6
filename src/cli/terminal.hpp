// Terminal: how wide standard output is, and how many colours it has.
#pragma once

#include <string>

#include "cli/console.hpp"
#include "qkv/report/heat.hpp"

namespace qkv::cli {

/// Colours where text_style() allows them: 24 bits where COLORTERM is truecolor or 24bit or TERM
/// ends in -direct, 256 where TERM names 256 colours, else none; where --color always demands some,
/// 256. The width is `width` (--width, "" for none), else COLUMNS, else the terminal's, else 80.
///
/// throws  Error: --color or --width is not what it may be
Terminal terminal_of(const ConsoleOptions& options, const std::string& width);

}  // namespace qkv::cli
