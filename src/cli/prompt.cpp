// Prompt: from --prompt or --tokens to ids, and from ids back to a text.
#include "cli/prompt.hpp"

#include <unistd.h>

#include <filesystem>

#include "cli/numbers.hpp"
#include "cli/standard_input.hpp"
#include "cli/text_input.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"
#include "qkv/text/pieces.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

namespace {

std::string prompt_text(const CommonOptions& options) {
  const std::string& text = options.at("prompt");
  if (text != "-") return text;
  std::string read = read_standard_input();
  if (read.ends_with('\n')) read.pop_back();
  return read;
}

/// "1,403" or a tensor of integers.
std::vector<std::size_t> listed_ids(const std::string& text) {
  std::vector<std::size_t> ids;
  const bool digits = text.find_first_not_of("0123456789,+-") == std::string::npos && text != "-";
  // "3,x" is a list with a slip in it, unless there is such a file.
  const bool list = text.find(',') != std::string::npos && text.find('[') == std::string::npos &&
                    !fs::exists(text);
  if (digits || list) {
    for (const long long id : parse_integers(text, "--tokens", 0))
      ids.push_back(static_cast<std::size_t>(id));
    return ids;
  }
  TensorStream stdin_stream(STDIN_FILENO);
  const Array array = read_tensor(text, stdin_stream);
  if (array.shape.size() != 1 || is_float(array.dtype)) {
    throw Error(Complaint{.what = "no list of token ids",
                          .where = "--tokens, " + escaped(text),
                          .expected = "ids with commas between, or a tensor (L) of integers",
                          .got = std::string(name(array.dtype)) + " " + shape_text(array.shape)});
  }
  for (std::size_t n = 0; n < array.shape[0]; ++n) {
    const double id = element(array, n);
    if (id < 0) {
      throw Error(Complaint{.what = "a token id below 0",
                            .where = "--tokens, " + escaped(text) + index_text({n}),
                            .expected = "0 or more",
                            .got = number_text(id)});
    }
    ids.push_back(static_cast<std::size_t>(id));
  }
  return ids;
}

Sentence words_of(const std::string& text, const ModelBundle& model) {
  if (model.options.has("pieces")) return split_pieces(text, *model.vocabulary, "--prompt");
  return split(text, splitting_of(model.options), "--prompt");
}

}  // namespace

std::optional<std::size_t> id_of_option(const ModelBundle& model, const std::string& name) {
  if (!model.options.has(name)) return std::nullopt;
  const std::string& token = model.options.at(name);
  if (!model.vocabulary) {
    throw Error(Complaint{.what = "a token without a vocabulary",
                          .where = model.options.place(name),
                          .expected = "vocab.txt in the model, or --vocab FILE",
                          .got = "neither"});
  }
  const std::optional<std::size_t> id = model.vocabulary->id(token);
  if (id) return id;
  const std::string near = nearest(token, model.vocabulary->tokens());
  throw Error(Complaint{.what = "unknown token",
                        .where = model.options.place(name),
                        .expected = "a token of " + model.vocabulary_file,
                        .got = token.empty() ? "nothing" : escaped(token),
                        .hint = near.empty() ? "" : "did you mean " + escaped(near) + "?"});
}

std::vector<std::size_t> prompt_ids(const ModelBundle& model) {
  const CommonOptions& options = model.options;
  const bool text = options.has("prompt");
  if (text && options.has("tokens")) {
    throw Error(Complaint{
        .what = "two prompts", .where = "--prompt, --tokens", .expected = "one of the two"});
  }
  std::vector<std::size_t> ids;
  if (options.has("tokens")) {
    ids = listed_ids(options.at("tokens"));
  } else {
    const std::optional<std::size_t> bos = id_of_option(model, "bos");
    if (bos) ids.push_back(*bos);
  }
  if (text) {
    if (!model.vocabulary) {
      throw Error(Complaint{.what = "a text without a vocabulary",
                            .where = "--prompt",
                            .expected = "vocab.txt in the model, or --vocab FILE",
                            .got = "neither",
                            .hint = "--tokens takes ids"});
    }
    const Sentence words = words_of(prompt_text(options), model);
    const std::optional<std::size_t> unknown = options.has("unk") && options.at("unk") != "error"
                                                   ? id_of_option(model, "unk")
                                                   : std::nullopt;
    const LookedUp found =
        look_up(std::span(&words, 1), *model.vocabulary, unknown, model.vocabulary_file);
    ids.insert(ids.end(), found.ids[0].begin(), found.ids[0].end());
  }
  if (ids.empty()) {
    throw Error(Complaint{.what = "nothing to go on from",
                          .where = "--prompt, --tokens",
                          .expected = "one token at least",
                          .got = "none"});
  }
  const std::size_t V = model.inputs.embedding.array.shape[0];
  for (const std::size_t id : ids) {
    if (id < V) continue;
    throw Error(Complaint{.what = "an id beyond the embedding table",
                          .where = model.inputs.embedding.where + ", axis 0, V",
                          .expected = "ids below " + std::to_string(V),
                          .got = std::to_string(id)});
  }
  return ids;
}

std::string text_of(const ModelBundle& model, const std::vector<std::size_t>& ids) {
  const std::optional<std::size_t> bos = id_of_option(model, "bos"),
                                   stop = id_of_option(model, "stop");
  Sentence tokens;
  for (const std::size_t id : ids) {
    if (id != bos && id != stop) tokens.push_back(model.vocabulary->tokens()[id]);
  }
  if (model.options.has("pieces")) return join_pieces(tokens);
  std::string text;
  for (const std::string& token : tokens)
    text += (text.empty() || model.options.has("per-char") ? "" : " ") + token;
  return text;
}

}  // namespace qkv::cli
