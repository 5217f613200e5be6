// Model bundle: the parts of a language model, from a folder.
#include "cli/model_bundle.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/bundle.hpp"
#include "cli/text_input.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"

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

}  // namespace qkv::cli
