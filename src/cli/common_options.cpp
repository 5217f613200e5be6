// The options that every computing command takes, each defined once.
#include "cli/common_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/option_list.hpp"

namespace qkv::cli {

namespace {

constexpr OptionRow rows[] = {
    {"context", "C", "Cross-attention: keys and values come from C, (S,E) or (B,S,E)",
     OptionKind::tensor, "Inputs"},
    {"q", "Q", "Projected queries in place of X: (L,D), (B,L,H*D) or (B,H,L,D)", OptionKind::tensor,
     "Inputs"},
    {"k", "K", "Projected keys", OptionKind::tensor, "Inputs"},
    {"v", "V", "Projected values", OptionKind::tensor, "Inputs"},
    {"layout", "bhld|blhd", "Order of the axes where q, k and v have rank 4 (bhld)",
     OptionKind::text, "Inputs"},
    {"past-k", "K", "Cached keys, (B,G,P,D), which come first", OptionKind::tensor, "Inputs"},
    {"past-v", "V", "Cached values, (B,G,P,Dv)", OptionKind::tensor, "Inputs"},

    {"w,weights", "DIR|FILE", "Weights: a folder of wq.npy ..., an .npz or a .safetensors file",
     OptionKind::path, "Weights"},
    {"weights-prefix", "P", "Which layer of a checkpoint file: encoder.layer.0.attention.",
     OptionKind::text, "Weights"},
    {"weight-order", "auto|in-out|out-in",
     "y = x*W (in-out), y = x*W^T as in nn.Linear (out-in), or by the shapes (auto)",
     OptionKind::text, "Weights"},
    {"wq", "W", "Query weight", OptionKind::tensor, "Weights"},
    {"wk", "W", "Key weight", OptionKind::tensor, "Weights"},
    {"wv", "W", "Value weight", OptionKind::tensor, "Weights"},
    {"wo", "W", "Output weight; without it the heads are only concatenated", OptionKind::tensor,
     "Weights"},
    {"bq", "b", "Query bias", OptionKind::tensor, "Weights"},
    {"bk", "b", "Key bias", OptionKind::tensor, "Weights"},
    {"bv", "b", "Value bias", OptionKind::tensor, "Weights"},
    {"bo", "b", "Output bias", OptionKind::tensor, "Weights"},
    {"wqkv", "W", "Fused weight for q, k and v", OptionKind::tensor, "Weights"},
    {"bqkv", "b", "Fused bias", OptionKind::tensor, "Weights"},
    {"qkv-order", "blocks|per-head|per-group",
     "Columns of a fused weight: q|k|v, (H, q k v, D) or (G, r*q k v, D) (blocks)",
     OptionKind::text, "Weights"},

    {"heads", "H", "Query heads (1)", OptionKind::text, "Heads"},
    {"kv-heads", "G", "Key/value heads (H); query head h reads head h/(H/G)", OptionKind::text,
     "Heads"},

    {"causal", "", "Hide keys after the query's own position", OptionKind::flag, "Mask"},
    {"causal-align", "start|end",
     "Query 0 stands at the end of the cache (start), or the last query at the last key (end)",
     OptionKind::text, "Mask"},
    {"window", "LEFT[,RIGHT]",
     "Hide keys further than LEFT before or RIGHT after the query; -1 is open", OptionKind::text,
     "Mask"},
    {"mask", "M", "bool or 0/1: takes part; float: added; broadcast to (B,H,L,S)",
     OptionKind::tensor, "Mask"},
    {"mask-true", "attend|hide", "What True means in the mask (attend)", OptionKind::text, "Mask"},
    {"key-padding", "P", "Which keys are real, (B,S) or (B,1,S)", OptionKind::tensor, "Mask"},
    {"padding-true", "attend|hide", "What True means in the key padding (attend)", OptionKind::text,
     "Mask"},
    {"lengths", "n0,n1,...|FILE", "How many keys of each batch row are real", OptionKind::tensor,
     "Mask"},
    {"fill", "V", "What hidden scores become: -inf, a number, or min (-inf)", OptionKind::text,
     "Mask"},
    {"empty-rows", "zero|nan|uniform", "Weights of a query that may see no key (zero)",
     OptionKind::text, "Mask"},
    {"like", "NAME",
     "Conventions of a known system: onnx, torch-sdpa, torch-mha, flash, jax, keras, hf-eager, "
     "ggml",
     OptionKind::text, "Mask"},

    {"scale", "F|none", "Factor on the scores (1/sqrt(D)); none: 1", OptionKind::text, "Scores"},
    {"temperature", "T", "Divides the scores in place of sqrt(D)", OptionKind::text, "Scores"},
    {"softcap", "C", "C*tanh(s/C) after the scale, before the mask", OptionKind::text, "Scores"},
    {"alibi", "", "Take slope*distance away from the scores, one slope a head", OptionKind::flag,
     "Scores"},
    {"sinks", "S", "One learned logit per query head that takes part in the softmax, (H)",
     OptionKind::tensor, "Scores"},
    {"qk-norm", "rms|layer|l2", "Normalise q and k over each head's channels, before rotation",
     OptionKind::text, "Scores"},
    {"q-norm", "G", "Gain of the normalised queries, (D)", OptionKind::tensor, "Scores"},
    {"k-norm", "G", "Gain of the normalised keys, (D)", OptionKind::tensor, "Scores"},
    {"norm-eps", "EPS",
     "Added to the mean square under the root (1e-6; least length for l2: 1e-12)", OptionKind::text,
     "Scores"},
    {"dropout", "P", "Drop this share of attn at random and enlarge the rest, as in training",
     OptionKind::text, "Scores"},
    {"seed", "N", "Seed of the dropout (0)", OptionKind::text, "Scores"},
    {"rope", "BASE", "Rotary embedding of q and k with this base", OptionKind::text, "Scores"},
    {"rope-style", "half|interleaved", "Pairs (i, i+n/2) or (2i, 2i+1) (half)", OptionKind::text,
     "Scores"},
    {"rope-dim", "N", "Rotate the first N channels only", OptionKind::text, "Scores"},
    {"position", "P", "Position of the first query (the cache's length), or a file of positions",
     OptionKind::tensor, "Scores"},

    {"compute", "f32|f64|f16|bf16",
     "Arithmetic; f16 and bf16 round every stage as an implementation in half precision does (f32)",
     OptionKind::text, "Resources"},
    {"threads", "N", "Threads (all cores)", OptionKind::text, "Resources"},
    {"memory-limit", "SIZE", "Refuse what would need more: 512M, 4GiB (80 % of free memory)",
     OptionKind::text, "Resources"},
};

}  // namespace

std::string_view OptionRow::key() const { return name.substr(name.rfind(',') + 1); }

std::span<const OptionRow> option_list() { return rows; }

namespace {

void add_row(CLI::App& app, CommonOptions& options, const OptionRow& row) {
  const std::string key(row.key());
  const std::string names =
      row.name == key ? "--" + key : "-" + std::string(row.name.substr(0, 1)) + ",--" + key;
  CLI::Option* option = nullptr;
  if (row.kind == OptionKind::flag) {
    option = app.add_flag_function(
        names, [&options, key](std::int64_t) { options.values[key] = "true"; },
        std::string(row.help));
  } else {
    option = app.add_option_function<std::string>(
        names, [&options, key](const std::string& value) { options.values[key] = value; },
        std::string(row.help));
    option->type_name(std::string(row.value));
  }
  option->group(std::string(row.group));
}

}  // namespace

void add_common_options(CLI::App& app, CommonOptions& options) {
  options.app = &app;
  app.add_option_function<std::string>(
         "X", [&options](const std::string& value) { options.values["input"] = value; },
         "X, (L,E) or (B,L,E), or a bundle folder")
      ->type_name("X|DIR");
  for (const OptionRow& row : rows) add_row(app, options, row);
}

void add_some_options(CLI::App& app, CommonOptions& options,
                      std::span<const std::string_view> names) {
  options.app = &app;
  for (const std::string_view name : names) {
    const auto row = std::ranges::find(rows, name, &OptionRow::key);
    if (row != std::end(rows)) add_row(app, options, *row);
  }
}

void add_further_options(CLI::App& app, CommonOptions& options,
                         std::span<const OptionRow> further) {
  options.app = &app;
  for (const OptionRow& row : further) {
    options.further_rows.push_back(row);
    add_row(app, options, row);
  }
}

namespace {

void add_word_option(CLI::App& app, CommonOptions& options, const std::string& name,
                     const std::string& value, const std::string& help, const std::string& group) {
  app.add_option_function<std::string>(
         "--" + name, [&options, name](const std::string& word) { options.values[name] = word; },
         help)
      ->type_name(value)
      ->group(group);
}

}  // namespace

void add_tensor_option(CLI::App& app, CommonOptions& options, const std::string& name,
                       const std::string& value, const std::string& help) {
  options.further_tensors.push_back(name);
  add_word_option(app, options, name, value, help, "Tensors");
}

void add_weight_option(CLI::App& app, CommonOptions& options, const std::string& name,
                       const std::string& value, const std::string& help) {
  options.further_tensors.push_back(name);
  options.further_weights.push_back(name);
  add_word_option(app, options, name, value, help, "Weights");
}

void add_setting_option(CLI::App& app, CommonOptions& options, const std::string& name,
                        const std::string& value, const std::string& help,
                        const std::string& group) {
  options.further_settings.push_back(name);
  add_word_option(app, options, name, value, help, group);
}

}  // namespace qkv::cli
