// Characters: which code points part words and which are punctuation, in every script.
#pragma once

namespace qkv {

/// White space: what Unicode gives the property White_Space, the separators U+001C to U+001F that
/// Python's str.split() parts at too, and the zero width space U+200B, which stands between the
/// words of Thai and Khmer.
bool is_white_space(char32_t point);

/// Punctuation: the general categories P* of Unicode 14 (connectors, dashes, brackets, quotation
/// marks and all other marks). Symbols such as + < = > $ ~ and emoji are none.
bool is_punctuation(char32_t point);

/// Punctuation that stands between two words without a blank, so that they are two where it is
/// dropped: word dividers (Tibetan, Ethiopic, Runic, Aegean, Ugaritic, Old Persian, Phoenician,
/// cuneiform), the commas, stops and brackets of Chinese and Japanese, dashes from U+2013 on, and
/// the ellipsis.
bool parts_words(char32_t point);

}  // namespace qkv
