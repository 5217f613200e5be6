// Text input: from words on the command line or lines of standard input to tokens, ids and
// positions, for embed and classify.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/common_options.hpp"
#include "qkv/text/embed.hpp"

namespace qkv::cli {

/// How a text becomes tokens, and what is added for their positions: --keep-punctuation, --drop,
/// --per-char, --vocab, --unk, --pos-encoding.
std::span<const OptionRow> text_option_list();

/// throws  Error naming the flag: both --drop and --keep-punctuation, or bytes that are no UTF-8
Splitting splitting_of(const CommonOptions& options);

struct Texts {
  std::vector<Sentence> sentences = {};
  bool several = false;   ///< more than one line: a batch
  std::string note = {};  ///< the text is the name of a file, which may not be what was meant
};

/// True where an argument names a tensor file rather than being a text itself.
bool names_tensor(const std::string& argument);

/// The argument as one text.
/// throws  Error: no UTF-8, or nothing left of it
Texts text_of_argument(const std::string& argument, const Splitting& splitting);

/// A text a line.
/// throws  Error naming the line: no UTF-8, or nothing left of it
Texts texts_of_lines(const std::string& bytes, const Splitting& splitting);

struct Tokenised {
  std::vector<Sentence> sentences = {};
  bool several = false;
  Vocabulary vocabulary;
  Ids ids = {};
  std::vector<std::string> notes = {};  ///< which words were unknown
};

/// Ids by --vocab or, where there is none, by the sorted tokens of the texts themselves.
///
/// throws  Error naming the flag or file: a bad vocabulary, --unk without one or with a token that
/// is not in it, unknown words
Tokenised tokenise(Texts texts, const CommonOptions& options);

/// True where --pos-encoding names a file.
/// throws  Error where it is neither a file nor far from one of the words
bool has_position_file(const CommonOptions& options);

/// What is added to the rows of X, empty for none. `file` is the table that --pos-encoding names.
///
/// shape   table (N,E) -> (L,E)
/// throws  Error naming the table: rank, type, width, or fewer rows than the longest sentence
Tensor<double, 2> positions_for(const CommonOptions& options, const std::optional<NamedArray>& file,
                                std::size_t L, std::size_t E);

/// throws  Error unless the table is (V,E) of floats
void require_table(const NamedArray& table, const std::string& symbols);

}  // namespace qkv::cli
