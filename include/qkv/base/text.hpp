// Shapes, indices, bytes and numbers as text; bytes that came from a file made safe to print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace qkv {

/// (2,4,8); a one-tuple is (8) and rank 0 is ().
std::string shape_text(const std::vector<std::size_t>& shape);

/// [0,3,7], an index as users type it after a tensor's name.
std::string index_text(const std::vector<std::size_t>& index);

/// 0 B, 256 B, 2.1 KiB, 3.4 GiB: three significant digits at most.
std::string bytes_text(double bytes);

/// Shortest text that reads back as the same float64 ("0.5", "1e-06", "inf", "nan").
std::string number_text(double value);

/// Four significant digits, for messages: "0.9375", "6.1e-08".
std::string short_number(double value);

/// Control bytes and bytes that are no UTF-8 become \xNN; a text longer than `most` bytes ends in
/// "...".
std::string escaped(std::string_view bytes, std::size_t most = 200);

/// a, b and c  /  a and b  /  a
std::string listed(const std::vector<std::string>& words, std::string_view last_joint = "and");

/// The candidate nearest to `word` by edit distance, or "" when none is near enough to be a slip of
/// the hand.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// 64K, 2M, 1.5GiB, 300MB, plain bytes. Powers of 1024 throughout.
/// throws  Error naming `where` when the text is no size
double parse_bytes(std::string_view text, const std::string& where);

}  // namespace qkv
