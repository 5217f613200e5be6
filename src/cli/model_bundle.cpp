// Model bundle: the parts of a language model, from a folder.
#include "cli/model_bundle.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/bundle.hpp"
#include "cli/numbers.hpp"
#include "cli/standard_input.hpp"
#include "cli/text_input.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"
#include "qkv/text/embed.hpp"
#include "qkv/text/pieces.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

namespace {

constexpr OptionRow model_rows[] = {
    {"pieces", "", "Tokens are byte-pair pieces, which hold their blanks themselves",
     OptionKind::flag, "Text"},
    {"bos", "TOKEN", "The token that stands before every prompt", OptionKind::text, "Text"},
    {"stop", "TOKEN", "The token that ends a text", OptionKind::text, "Text"},
};

/// What tokens that come one by one have no use for: other inputs, and what holds for one length.
constexpr std::string_view of_no_use[] = {
    "context",        "q",         "k",           "v",       "layout",      "past-k",   "past-v",
    "weights",        "mask",      "dropout",     "lengths", "key-padding", "position", "seed",
    "weights-prefix", "mask-true", "padding-true"};

void require_nothing_of_no_use(const CommonOptions& options) {
  Complaints complaints;
  for (const std::string_view name : of_no_use) {
    const std::string key(name);
    if (!options.has(key)) continue;
    complaints.add({.what = "an option that generate has no use for",
                    .where = options.place(key),
                    .expected = "settings that hold for a text of any length",
                    .got = escaped(options.at(key))});
  }
  complaints.throw_if_any();
}

class FolderReader {
 public:
  explicit FolderReader(std::string folder) : folder_(std::move(folder)) {}

  fs::path path(const std::string& file) const { return fs::path(folder_) / file; }

  std::optional<NamedArray> tensor(const std::string& file) {
    if (!fs::exists(path(file))) return std::nullopt;
    return named(path(file).string());
  }
  NamedArray named(const std::string& argument) {
    files_.push_back(split_file(argument));
    return {read_tensor(argument, stdin_), escaped(argument, 4096)};
  }
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::string folder_;
  TensorStream stdin_{STDIN_FILENO};
  std::vector<std::string> files_;
};

/// Weights that a layer lacks are named with its folder.
void require_weights(const BlockRequest& block, const std::string& folder) {
  Complaints complaints;
  for (const BlockLayer& layer : block.layers) {
    std::vector<std::string> missing;
    const auto need = [&](const std::optional<NamedArray>& weight, const char* name) {
      if (!weight) missing.emplace_back(name);
    };
    if (!layer.inputs.wqkv) {
      need(layer.inputs.wq, "wq.npy");
      need(layer.inputs.wk, "wk.npy");
      need(layer.inputs.wv, "wv.npy");
    }
    need(layer.block.ff_w1, "ff_w1.npy");
    need(layer.block.ff_w2, "ff_w2.npy");
    if (missing.empty()) continue;
    const bool stack = fs::is_directory(fs::path(folder) / "layers");
    const std::size_t n = static_cast<std::size_t>(&layer - block.layers.data());
    complaints.add(
        {.what = "missing weights",
         .where = escaped(folder, 4096) + (stack ? "/layers/" + std::to_string(n) : std::string()),
         .expected = "wq, wk and wv (or wqkv) of the attention, ff_w1 and ff_w2 of the "
                     "feed-forward",
         .got = "no " + listed(missing),
         .hint = stack ? "" : "several blocks are in folders layers/0, 1 ..."});
  }
  complaints.throw_if_any();
}

/// throws  Error naming every axis of every layer that does not fit the width of the embedding
void require_layers_that_fit(const LanguageModelInputs& inputs) {
  Complaints complaints;
  for (const ModelLayer& layer : inputs.layers) {
    Inputs with_x = layer.inputs;
    with_x.x = NamedArray{.array = {.shape = {1, inputs.embedding.array.shape[1]}},
                          .where = "a row of " + inputs.embedding.where};
    complaints.attempt(
        [&] { find_block_sizes(with_x, layer.block, layer.settings, inputs.settings); });
  }
  complaints.throw_if_any();
}

Vocabulary read_vocabulary(const std::string& file, const std::string& where) {
  const Bytes bytes = open_bytes(file);
  return vocabulary_of_lines(
      lines_of({reinterpret_cast<const char*>(bytes.data), bytes.size}, where), where);
}

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

void require_one_splitting(const CommonOptions& options) {
  if (!options.has("pieces")) return;
  for (const char* name : {"per-char", "drop", "keep-punctuation"}) {
    if (!options.has(name)) continue;
    throw Error(Complaint{.what = "two ways of making tokens",
                          .where = options.place("pieces") + ", " + options.place(name),
                          .expected = "one of the two: pieces keep every character"});
  }
}

}  // namespace

void add_model_options(CLI::App& app, CommonOptions& options) {
  add_further_options(app, options, text_option_list());
  add_further_options(app, options, model_rows);
  std::vector<std::string_view> names;
  for (const OptionRow& row : option_list()) {
    // Every token sees those before it: --causal goes without saying.
    if (row.key() != "causal" && row.key() != "causal-align" &&
        std::ranges::find(of_no_use, row.key()) == std::end(of_no_use))
      names.push_back(row.key());
  }
  add_some_options(app, options, names);
  add_block_options(app, options);
}

ModelBundle read_model_bundle(const std::string& folder, CommonOptions options) {
  if (!fs::is_directory(folder)) {
    throw Error(Complaint{.what = "no model",
                          .where = escaped(folder, 4096),
                          .expected = "a folder with embedding.npy, layers/0 ... and config.json",
                          .got = fs::exists(folder) ? "a file" : "nothing of that name"});
  }
  FolderReader reader(folder);
  add_model_folder(folder, options);
  require_nothing_of_no_use(options);
  require_one_splitting(options);
  for (const auto& [name, file] :
       {std::pair("pos-encoding", "position.npy"), std::pair("vocab", "vocab.txt")}) {
    if (!options.has(name) && fs::exists(reader.path(file)))
      options.values[name] = reader.path(file).string();
  }

  ModelBundle model;
  Complaints complaints;
  if (!fs::exists(reader.path("embedding.npy"))) {
    complaints.add({.what = "no embedding table",
                    .where = escaped(reader.path("embedding.npy").string(), 4096),
                    .expected = "that file, (V,E)",
                    .got = "none"});
  }
  CommonOptions of_blocks = options;
  for (const std::span<const OptionRow> rows :
       {text_option_list(), std::span<const OptionRow>(model_rows)}) {
    for (const OptionRow& row : rows) of_blocks.values.erase(std::string(row.key()));
  }
  for (const char* name : {"tokens", "prompt"}) of_blocks.values.erase(name);
  of_blocks.values["weights"] = folder;
  BlockRequest block;
  complaints.attempt([&] {
    block = read_block_request(of_blocks);
    require_weights(block, folder);
  });
  complaints.throw_if_any();

  model.inputs.embedding = *reader.tensor("embedding.npy");
  require_table(model.inputs.embedding, "(V,E), a row for each id");
  model.inputs.final_norm_w = reader.tensor("final_norm_w.npy");
  model.inputs.final_norm_b = reader.tensor("final_norm_b.npy");
  model.inputs.lm_head_w = reader.tensor("lm_head_w.npy");
  model.inputs.lm_head_b = reader.tensor("lm_head_b.npy");
  model.inputs.settings = block.settings;
  for (BlockLayer& layer : block.layers)
    model.inputs.layers.push_back({layer.inputs, layer.block, layer.settings});
  require_layers_that_fit(model.inputs);
  if (has_position_file(options)) model.position = reader.named(options.at("pos-encoding"));
  if (options.has("vocab")) {
    const std::string& file = options.at("vocab");
    model.vocabulary_file = escaped(file, 4096);
    model.vocabulary = read_vocabulary(file, model.vocabulary_file);
    block.request.input_files.push_back(file);
  }
  std::ranges::copy(reader.files(), std::back_inserter(block.request.input_files));
  model.request = std::move(block.request);
  model.options = std::move(options);
  return model;
}

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
