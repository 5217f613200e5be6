// Vocabulary: every token has an id.
#include "qkv/text/vocabulary.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

Vocabulary::Vocabulary(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
  for (std::size_t id = 0; id < tokens_.size(); ++id) ids_.emplace(tokens_[id], id);
}

std::optional<std::size_t> Vocabulary::id(const std::string& token) const {
  const auto found = ids_.find(token);
  if (found == ids_.end() || token.empty()) return std::nullopt;
  return found->second;
}

Vocabulary sorted_vocabulary(std::span<const Sentence> sentences) {
  // The bytes of UTF-8 sort as its code points do.
  std::set<std::string> tokens;
  for (const Sentence& sentence : sentences) tokens.insert(sentence.begin(), sentence.end());
  return Vocabulary({tokens.begin(), tokens.end()});
}

Vocabulary vocabulary_of_lines(std::vector<std::string> lines, const std::string& where) {
  std::unordered_map<std::string_view, std::size_t> first;
  for (std::size_t id = 0; id < lines.size(); ++id) {
    if (lines[id].empty()) continue;
    const auto [same, added] = first.emplace(lines[id], id);
    if (added) continue;
    throw Error(Complaint{.what = "a token with two ids",
                          .where = where + ", line " + std::to_string(id + 1),
                          .expected = "another token on each line",
                          .got = escaped(lines[id]) + ", which line " +
                                 std::to_string(same->second + 1) + " has too"});
  }
  if (first.empty()) {
    throw Error(Complaint{.what = "no vocabulary",
                          .where = where,
                          .expected = "a token a line",
                          .got = lines.empty() ? "an empty file" : "empty lines"});
  }
  return Vocabulary(std::move(lines));
}

LookedUp look_up(std::span<const Sentence> sentences, const Vocabulary& vocabulary,
                 const std::optional<std::size_t>& unknown_id, const std::string& where) {
  LookedUp found;
  std::unordered_set<std::string_view> seen;
  for (const Sentence& sentence : sentences) {
    found.ids.emplace_back();
    for (const std::string& token : sentence) {
      const std::optional<std::size_t> id = vocabulary.id(token);
      if (!id && seen.insert(token).second) found.unknown.push_back(token);
      if (id || unknown_id) found.ids.back().push_back(id ? *id : *unknown_id);
    }
  }
  if (found.unknown.empty() || unknown_id) return found;
  constexpr std::size_t most = 8;
  std::vector<std::string> named;
  for (const std::string& token : found.unknown) {
    if (named.size() == most) {
      named.push_back(std::to_string(found.unknown.size() - most) + " more");
      break;
    }
    named.push_back(escaped(token));
  }
  const std::string near = nearest(found.unknown[0], vocabulary.tokens());
  throw Error(Complaint{
      .what = found.unknown.size() == 1 ? "unknown word" : "unknown words",
      .where = where,
      .expected = "words that are among its " + std::to_string(vocabulary.size()) + " tokens",
      .got = listed(named),
      .hint = (near.empty() ? "" : escaped(near) + " is in it; ") +
              "--unk TOKEN gives unknown words the id of that token"});
}

}  // namespace qkv
