// Vocabulary: every token has an id.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "qkv/text/split.hpp"

namespace qkv {

class Vocabulary {
 public:
  /// tokens[id], in the order of their ids. A token that comes again keeps its first id.
  explicit Vocabulary(std::vector<std::string> tokens);

  std::size_t size() const { return tokens_.size(); }
  const std::vector<std::string>& tokens() const { return tokens_; }
  std::optional<std::size_t> id(const std::string& token) const;

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::size_t> ids_;
};

/// The different tokens of all sentences by code point, so that capital letters come first:
/// sorted(set(tokens)) in Python.
Vocabulary sorted_vocabulary(std::span<const Sentence> sentences);

/// A token a line; the line number, from 0, is the id. An empty line holds its id for no token.
///
/// throws  Error: no token at all, or one that stands on two lines
Vocabulary vocabulary_of_lines(std::vector<std::string> lines, const std::string& where);

/// Row b holds the ids of sentence b.
using Ids = std::vector<std::vector<std::size_t>>;

struct LookedUp {
  Ids ids = {};
  Sentence unknown = {};  ///< the different tokens that are not in the vocabulary, as they came up
};

/// The id of every token; one that is unknown gets `unknown_id`.
///
/// throws  Error naming the unknown tokens, and the vocabulary `where`, if there is no unknown_id
LookedUp look_up(std::span<const Sentence> sentences, const Vocabulary& vocabulary,
                 const std::optional<std::size_t>& unknown_id, const std::string& where);

}  // namespace qkv
