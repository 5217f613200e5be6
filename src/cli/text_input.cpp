// Text input: from words to tokens, ids and positions.
#include "cli/text_input.hpp"

#include <algorithm>
#include <filesystem>

#include "cli/standard_input.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"
#include "qkv/tensor/part.hpp"
#include "qkv/text/positions.hpp"

namespace qkv::cli {

namespace {

constexpr OptionRow rows[] = {
    {"keep-punctuation", "", "Drop no punctuation", OptionKind::flag, "Text"},
    {"drop", "CHARS", "Drop these characters in place of all punctuation", OptionKind::text,
     "Text"},
    {"per-char", "", "A token is a character, for languages without spaces", OptionKind::flag,
     "Text"},
    {"vocab", "FILE", "A token a line; the line number, from 0, is the id", OptionKind::path,
     "Text"},
    {"unk", "TOKEN|error", "The token whose id unknown words get (error)", OptionKind::text,
     "Text"},
    {"pos-encoding", "sinusoidal|FILE|none",
     "Positions that are added: sines and cosines, a table (N,E), or none (none)", OptionKind::path,
     "Text"},
};

/// "Dessert, first" of a text that is too long for a message.
std::string excerpt(const std::string& text) {
  constexpr std::size_t most = 40;
  return text.empty() ? "an empty text" : escaped(text, most);
}

Sentence sentence_of(const std::string& text, const Splitting& splitting,
                     const std::string& where) {
  Sentence tokens = split(text, splitting, where);
  if (!tokens.empty()) return tokens;
  const bool dropped = !split(text, {.drop = Drop::nothing}, where).empty();
  throw Error(Complaint{.what = "no word",
                        .where = where,
                        .expected = "a text with one at least",
                        .got = excerpt(text),
                        .hint = dropped ? "--keep-punctuation drops nothing" : ""});
}

Vocabulary read_vocabulary(const CommonOptions& options) {
  const std::string& file = options.at("vocab");
  const std::string where = file == "-" ? "stdin, " + options.place("vocab") : escaped(file, 4096);
  if (file == "-") return vocabulary_of_lines(lines_of(read_standard_input(), where), where);
  const Bytes bytes = open_bytes(file);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data), bytes.size);
  return vocabulary_of_lines(lines_of(text, where), where);
}

std::optional<std::size_t> unknown_id(const CommonOptions& options, const Vocabulary& vocabulary) {
  if (!options.has("unk") || options.at("unk") == "error") return std::nullopt;
  const std::string& token = options.at("unk");
  const std::optional<std::size_t> id = vocabulary.id(token);
  if (id) return id;
  const std::string near = nearest(token, vocabulary.tokens());
  throw Error(
      Complaint{.what = "the token for unknown words is unknown",
                .where = options.place("unk"),
                .expected = "a token of " + escaped(options.at("vocab"), 4096) + ", or error",
                .got = token.empty() ? "nothing" : escaped(token),
                .hint = near.empty() ? "" : "did you mean " + escaped(near) + "?"});
}

std::string unknown_note(const LookedUp& found, const std::string& token) {
  constexpr std::size_t most = 8;
  std::vector<std::string> named;
  for (const std::string& word : found.unknown) {
    if (named.size() == most) {
      named.push_back(std::to_string(found.unknown.size() - most) + " more");
      break;
    }
    named.push_back(escaped(word));
  }
  return "not in the vocabulary, and taken for " + escaped(token) + ": " + listed(named);
}

}  // namespace

std::span<const OptionRow> text_option_list() { return rows; }

Splitting splitting_of(const CommonOptions& options) {
  Splitting splitting{.per_char = options.has("per-char")};
  if (options.has("keep-punctuation")) splitting.drop = Drop::nothing;
  if (!options.has("drop")) return splitting;
  if (options.has("keep-punctuation")) {
    throw Error(Complaint{.what = "both ways of cleaning",
                          .where = options.place("drop") + ", " + options.place("keep-punctuation"),
                          .expected = "one of the two: characters to drop, or nothing to drop"});
  }
  splitting.drop = Drop::these;
  splitting.characters = code_points(options.at("drop"), options.place("drop"));
  return splitting;
}

bool names_tensor(const std::string& argument) {
  const std::string name = split_part(argument).first;
  const bool suffix = name.ends_with(".npy") || name.ends_with(".npz") ||
                      name.ends_with(".safetensors") || name.find(".npz:") != std::string::npos ||
                      name.find(".safetensors:") != std::string::npos;
  const bool words = name.find_first_of(" \t\n") != std::string::npos;
  return suffix && (!words || std::filesystem::exists(name.substr(0, name.rfind(':'))));
}

Texts text_of_argument(const std::string& argument, const Splitting& splitting) {
  Texts texts{.sentences = {sentence_of(argument, splitting, "TEXT")}};
  std::error_code failure;
  if (std::filesystem::is_regular_file(argument, failure)) {
    texts.note = escaped(argument) + " is taken as a text, not as the file of that name; - <" +
                 escaped(argument) + " in its place reads the file";
  }
  return texts;
}

Texts texts_of_lines(const std::string& bytes, const Splitting& splitting) {
  const std::vector<std::string> lines = lines_of(bytes, "stdin");
  if (lines.empty()) {
    throw Error(Complaint{
        .what = "no text", .where = "stdin", .expected = "a sentence a line", .got = "nothing"});
  }
  Texts texts{.several = lines.size() > 1};
  Complaints complaints;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    complaints.attempt([&] {
      texts.sentences.push_back(
          sentence_of(lines[n], splitting, "stdin, line " + std::to_string(n + 1)));
    });
  }
  complaints.throw_if_any();
  return texts;
}

Tokenised tokenise(Texts texts, const CommonOptions& options) {
  if (!options.has("vocab")) {
    if (options.has("unk") && options.at("unk") != "error") {
      throw Error(Complaint{.what = "a token for unknown words without a vocabulary",
                            .where = options.place("unk"),
                            .expected = "--vocab FILE",
                            .got = "none: every word of the text has an id"});
    }
    Vocabulary vocabulary = sorted_vocabulary(texts.sentences);
    Ids ids = look_up(texts.sentences, vocabulary, std::nullopt, "").ids;
    return {std::move(texts.sentences), texts.several, std::move(vocabulary), std::move(ids), {}};
  }
  Vocabulary vocabulary = read_vocabulary(options);
  const std::optional<std::size_t> unknown = unknown_id(options, vocabulary);
  LookedUp found =
      look_up(texts.sentences, vocabulary, unknown, escaped(options.at("vocab"), 4096));
  std::vector<std::string> notes;
  if (!found.unknown.empty()) notes.push_back(unknown_note(found, options.at("unk")));
  return {std::move(texts.sentences), texts.several, std::move(vocabulary), std::move(found.ids),
          std::move(notes)};
}

bool has_position_file(const CommonOptions& options) {
  if (!options.has("pos-encoding")) return false;
  const std::string& kind = options.at("pos-encoding");
  if (kind == "sinusoidal" || kind == "none") return false;
  const std::string near = nearest(kind, {"sinusoidal", "none"});
  if (near.empty() || std::filesystem::exists(split_part(kind).first)) return true;
  throw Error(Complaint{.what = "unknown choice, and no such file",
                        .where = options.place("pos-encoding"),
                        .expected = "sinusoidal, none or a table (N,E)",
                        .got = escaped(kind),
                        .hint = "did you mean " + near + "?"});
}

void require_table(const NamedArray& table, const std::string& symbols) {
  if (table.array.shape.size() != 2) {
    throw Error(Complaint{.what = "not a table",
                          .where = table.where,
                          .expected = symbols,
                          .got = shape_text(table.array.shape)});
  }
  if (!is_float(table.array.dtype)) {
    throw Error(Complaint{.what = "a table of another type",
                          .where = table.where,
                          .expected = "float16, bfloat16, float32 or float64",
                          .got = std::string(name(table.array.dtype))});
  }
}

Tensor<double, 2> positions_for(const CommonOptions& options, const std::optional<NamedArray>& file,
                                std::size_t L, std::size_t E) {
  if (!options.has("pos-encoding") || options.at("pos-encoding") == "none") return {};
  if (!file) return sinusoidal_positions(L, E);
  require_table(*file, "(N,E), a row for each position");
  const Shape& shape = file->array.shape;
  Complaints complaints;
  if (shape[1] != E) {
    complaints.add({.what = "position width differs from the embedding",
                    .where = file->where + ", axis 1, E",
                    .expected = std::to_string(E),
                    .got = std::to_string(shape[1]) + " in " + shape_text(shape)});
  }
  if (shape[0] < L) {
    complaints.add({.what = "more tokens than positions",
                    .where = file->where + ", axis 0, N",
                    .expected = std::to_string(L) + " or more, the tokens of the longest text",
                    .got = std::to_string(shape[0]) + " in " + shape_text(shape)});
  }
  complaints.throw_if_any();
  Array needed = file->array;
  needed.shape[0] = L;
  return as_rank<double, 2>(needed);
}

}  // namespace qkv::cli
