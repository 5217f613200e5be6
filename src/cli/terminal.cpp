// Terminal: asks the environment, then the terminal itself.
#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "cli/numbers.hpp"

namespace qkv::cli {

namespace {

constexpr std::size_t narrowest = 20, widest = 10000;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

ColourDepth colours(const ConsoleOptions& options) {
  if (!text_style(options).colour) return ColourDepth::plain;
  const std::string_view depth = environment("COLORTERM"), terminal = environment("TERM");
  if (depth == "truecolor" || depth == "24bit" || terminal.ends_with("-direct"))
    return ColourDepth::truecolour;
  if (terminal.find("256color") != std::string_view::npos || options.color == "always")
    return ColourDepth::ansi256;
  return ColourDepth::plain;
}

std::size_t clamped(std::size_t columns) {
  return columns < narrowest ? narrowest : columns > widest ? widest : columns;
}

std::size_t width_found() {
  const std::string_view columns = environment("COLUMNS");
  std::size_t number = 0;
  const auto [end, failure] =
      std::from_chars(columns.data(), columns.data() + columns.size(), number);
  if (failure == std::errc() && end == columns.data() + columns.size() && number > 0)
    return clamped(number);
  winsize size{};
  if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return clamped(size.ws_col);
  return 80;
}

}  // namespace

Terminal terminal_of(const ConsoleOptions& options, const std::string& width) {
  Terminal terminal{.depth = colours(options)};
  if (width.empty()) {
    terminal.width = width_found();
  } else {
    const auto wanted = static_cast<std::size_t>(parse_integer(width, "--width", narrowest));
    terminal.width = clamped(wanted);
  }
  return terminal;
}

}  // namespace qkv::cli
