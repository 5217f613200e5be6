// Pieces: byte-pair tokens, which hold their blanks themselves, from a text and back.
#pragma once

#include <string>
#include <string_view>

#include "qkv/text/vocabulary.hpp"

namespace qkv {

/// "One day" -> " One", " day"
///
/// A blank is put in front, and every character is a piece. Then, again and again, of all adjacent
/// pairs that are a piece together, the one with the least id is joined, the leftmost where it
/// stands twice: a vocabulary lists what was learned first, first. Of a character that is no piece,
/// each byte is <0xNN>. An empty text has no piece.
///
/// throws  Error "no UTF-8", calling the text `where`
/// source  Sennrich, Haddow & Birch 2016 (arXiv:1508.07909), section 3.2; blanks and bytes as
///         Kudo & Richardson 2018 (arXiv:1808.06226) have them
Sentence split_pieces(std::string_view text, const Vocabulary& vocabulary,
                      const std::string& where);

/// The text of pieces, one behind the other: <0xNN> is that byte, and the blank in front goes.
std::string join_pieces(const Sentence& pieces);

}  // namespace qkv
