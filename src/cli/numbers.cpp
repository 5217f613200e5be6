// Numbers and choices as users type them.
#include "cli/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv::cli {

double parse_number(std::string_view text, const std::string& where, const std::string& expected) {
  double value = 0;
  const std::string_view digits = text.starts_with("+") ? text.substr(1) : text;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure == std::errc() && end == digits.data() + digits.size() && !std::isnan(value))
    return value;
  throw Error(Complaint{
      .what = "not a number", .where = where, .expected = expected, .got = escaped(text)});
}

long long parse_integer(std::string_view text, const std::string& where, long long least) {
  long long value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc() && end == text.data() + text.size() && value >= least) return value;
  throw Error(Complaint{.what = "not a whole number that fits",
                        .where = where,
                        .expected = "a whole number, " + std::to_string(least) + " or more",
                        .got = escaped(text)});
}

std::vector<long long> parse_integers(std::string_view text, const std::string& where,
                                      long long least) {
  std::vector<long long> values;
  while (true) {
    const std::size_t comma = text.find(',');
    values.push_back(parse_integer(text.substr(0, comma), where, least));
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

std::size_t parse_choice(std::string_view text, const std::string& where,
                         const std::vector<std::string>& choices) {
  const auto found = std::ranges::find(choices, text);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  const std::string near = nearest(text, choices);
  throw Error(Complaint{.what = "unknown choice",
                        .where = where,
                        .expected = listed(choices, "or"),
                        .got = escaped(text),
                        .hint = near.empty() ? "" : "did you mean " + near + "?"});
}

double parse_tolerance(const std::string& text) {
  const double value = parse_number(text, "--tol");
  if (value > 0 && value < 1) return value;
  throw Error(Complaint{.what = "tolerance out of range",
                        .where = "--tol",
                        .expected = "a number above 0 and below 1: 1e-4 for four printed digits",
                        .got = text});
}

}  // namespace qkv::cli
