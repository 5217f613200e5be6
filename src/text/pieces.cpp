// Pieces: byte-pair tokens, from a text and back.
#include "qkv/text/pieces.hpp"

#include <fmt/format.h>

#include <optional>

#include "qkv/base/utf8.hpp"

namespace qkv {

namespace {

/// The byte that <0xNN> stands for.
std::optional<char> byte_of(std::string_view piece) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return std::nullopt;
  const std::size_t high = digits.find(piece[3]), low = digits.find(piece[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<char>(16 * high + low);
}

Sentence characters(std::string_view text, const Vocabulary& vocabulary) {
  Sentence pieces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = code_point_at(text, at).length;
    const std::string character(text.substr(at, length));
    at += length;
    if (vocabulary.id(character)) {
      pieces.push_back(character);
      continue;
    }
    for (const char byte : character)
      pieces.push_back(fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte)));
  }
  return pieces;
}

}  // namespace

Sentence split_pieces(std::string_view text, const Vocabulary& vocabulary,
                      const std::string& where) {
  require_utf8(text, where);
  if (text.empty()) return {};
  Sentence pieces = characters(" " + std::string(text), vocabulary);
  while (true) {
    std::optional<std::size_t> least;
    std::size_t first = 0;
    for (std::size_t n = 0; n + 1 < pieces.size(); ++n) {
      const std::optional<std::size_t> id = vocabulary.id(pieces[n] + pieces[n + 1]);
      if (!id || (least && *id >= *least)) continue;
      least = id;
      first = n;
    }
    if (!least) return pieces;
    pieces[first] += pieces[first + 1];
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  }
}

std::string join_pieces(const Sentence& pieces) {
  std::string text;
  for (const std::string& piece : pieces) {
    const std::optional<char> byte = byte_of(piece);
    if (byte) {
      text += *byte;
    } else {
      text += piece;
    }
  }
  return text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace qkv
