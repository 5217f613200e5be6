// Console: stdout for the result, stderr for everything else, and how both may look.
#pragma once

#include <string>
#include <string_view>

#include "qkv/base/error.hpp"
#include "qkv/report/report.hpp"

namespace CLI {
class App;
}

namespace qkv::cli {

struct ConsoleOptions {
  bool quiet = false;
  bool json = false;
  std::string color = "auto";
};

/// -q/--quiet, --json and --color.
void add_console_options(CLI::App& app, ConsoleOptions& options);

/// Colour where stdout is a terminal and NO_COLOR is not set, or as --color says.
/// throws  Error unless --color is auto, always or never
TextStyle text_style(const ConsoleOptions& options);

/// Writes to standard output.
/// throws  Error when it cannot be written (a full disk), so that a lost result never looks like a
/// good one
void print(std::string_view text);

/// "qkv: note: TEXT" on standard error, unless quiet.
void note(const ConsoleOptions& options, std::string_view text);

/// "qkv: error: ..." and "hint: ..." for each complaint.
void print_error(const Error& error);

}  // namespace qkv::cli
