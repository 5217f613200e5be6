// Console: what goes to stdout and stderr.
#include "cli/console.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "qkv/base/text.hpp"

namespace qkv::cli {

void add_console_options(CLI::App& app, ConsoleOptions& options) {
  app.add_flag("-q,--quiet", options.quiet, "No notes on stderr");
  app.add_flag("--json", options.json, "One JSON document on stdout in place of text");
  app.add_option("--color", options.color, "auto, always or never (NO_COLOR is obeyed)")
      ->type_name("WHEN");
}

TextStyle text_style(const ConsoleOptions& options) {
  TextStyle style;
  if (options.color == "always") {
    style.colour = true;
  } else if (options.color == "auto") {
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    const bool dumb = terminal != nullptr && std::strcmp(terminal, "dumb") == 0;
    style.colour =
        isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') && !dumb;
  } else if (options.color != "never") {
    throw Error(Complaint{.what = "unknown choice",
                          .where = "--color",
                          .expected = "auto, always or never",
                          .got = escaped(options.color)});
  }
  return style;
}

void print(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return;
  const std::string reason = errno != 0 ? std::strerror(errno) : "write error";
  throw Error(
      Complaint{.what = "cannot write the result", .where = "standard output", .got = reason});
}

void note(const ConsoleOptions& options, std::string_view text) {
  if (options.quiet) return;
  const std::string line = "qkv: note: " + std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void print_error(const Error& error) {
  std::string lines;
  for (const Complaint& complaint : error.complaints()) {
    lines += "qkv: error: " + text(complaint) + "\n";
    if (!complaint.hint.empty()) lines += "hint: " + complaint.hint + "\n";
  }
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

}  // namespace qkv::cli
