// Numbers and choices as users type them, with errors that name the flag.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::cli {

/// throws  Error naming `where` unless the whole text is a number ("inf", "-inf" and "1e-9" are)
double parse_number(std::string_view text, const std::string& where,
                    const std::string& expected = "a number");

/// throws  Error naming `where` unless the whole text is an integer of at least `least`
long long parse_integer(std::string_view text, const std::string& where, long long least);

/// "1,2,3". throws  Error naming `where`
std::vector<long long> parse_integers(std::string_view text, const std::string& where,
                                      long long least);

/// Position of `text` among `choices`.
/// throws  Error naming `where`, with the nearest choice
std::size_t parse_choice(std::string_view text, const std::string& where,
                         const std::vector<std::string>& choices);

/// --tol: a relative rounding.
///
/// throws  Error: not a number above 0 and below 1
double parse_tolerance(const std::string& text);

}  // namespace qkv::cli
