// What qkv block starts from: the input, and one or more layers of weights.
#include "cli/block_request.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "cli/bundle.hpp"
#include "cli/numbered_folders.hpp"
#include "cli/numbers.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

namespace {

struct WeightRow {
  const char *name, *value, *help;
  std::optional<NamedArray> BlockInputs::*target;
};
constexpr WeightRow weight_rows[] = {
    {"norm1-w", "g", "Gain of the norm at the attention, (E) (ones)", &BlockInputs::norm1_w},
    {"norm1-b", "b", "Its bias (zeros)", &BlockInputs::norm1_b},
    {"norm2-w", "g", "Gain of the norm at the feed-forward, (E) (ones)", &BlockInputs::norm2_w},
    {"norm2-b", "b", "Its bias (zeros)", &BlockInputs::norm2_b},
    {"ff-w1", "W", "First weight of the feed-forward, E to F", &BlockInputs::ff_w1},
    {"ff-b1", "b", "Its bias, (F)", &BlockInputs::ff_b1},
    {"ff-w2", "W", "Second weight of the feed-forward, F to E", &BlockInputs::ff_w2},
    {"ff-b2", "b", "Its bias, (E)", &BlockInputs::ff_b2},
    {"ff-w3", "W", "Makes it gated: act(x*W1)*(x*W3) goes into the second weight",
     &BlockInputs::ff_w3},
};

constexpr std::optional<NamedArray> Inputs::*attention_weights[] = {
    &Inputs::wq,    &Inputs::wk,     &Inputs::wv,    &Inputs::wo, &Inputs::wqkv,
    &Inputs::bq,    &Inputs::bk,     &Inputs::bv,    &Inputs::bo, &Inputs::bqkv,
    &Inputs::sinks, &Inputs::q_norm, &Inputs::k_norm};

BlockSettings block_settings(const Request& request) {
  BlockSettings settings;
  Complaints complaints;
  const auto choice = [&](const std::string& name, const std::vector<std::string>& choices,
                          auto& target) {
    const auto found = request.further_settings.find(name);
    if (found == request.further_settings.end()) return;
    complaints.attempt([&] {
      target = static_cast<std::remove_reference_t<decltype(target)>>(
          parse_choice(found->second.text, found->second.place, choices));
    });
  };
  choice("norm", {"post", "pre"}, settings.order);
  choice("norm-kind", {"layer", "rms"}, settings.kind);
  choice("activation", {"relu", "gelu", "gelu-tanh", "silu"}, settings.activation);
  const auto eps = request.further_settings.find("eps");
  if (eps != request.further_settings.end()) {
    complaints.attempt([&] {
      settings.eps = parse_number(eps->second.text, eps->second.place);
      if (settings.eps >= 0 && std::isfinite(settings.eps)) return;
      throw Error(Complaint{.what = "not a number that can be added under the root",
                            .where = eps->second.place,
                            .expected = "a finite number, 0 or more",
                            .got = eps->second.text});
    });
  }
  complaints.throw_if_any();
  return settings;
}

BlockInputs block_inputs(const Request& request) {
  BlockInputs inputs;
  for (const WeightRow& row : weight_rows) {
    const auto found = request.further_tensors.find(row.name);
    if (found != request.further_tensors.end()) inputs.*row.target = found->second;
  }
  return inputs;
}

/// Where the layers of a stack are: folders, or prefixes of one file.
struct Stack {
  std::string where = {};                  ///< "demo/layers", "model.safetensors"
  std::vector<std::string> folders = {};   ///< demo/layers/0 ...
  std::vector<std::string> prefixes = {};  ///< encoder.layers.0. ...
};

std::optional<Stack> stack_of_folder(const std::string& folder) {
  const fs::path layers = fs::path(folder) / "layers";
  if (!fs::is_directory(layers)) return std::nullopt;
  Stack stack{.where = escaped(layers.string())};
  stack.folders = numbered_folders(layers.string(), "layers", "the weights of a block each");
  for (const fs::path layer : stack.folders) {
    if (fs::exists(layer / "config.json")) {
      throw Error(Complaint{.what = "a config of one layer",
                            .where = escaped((layer / "config.json").string()),
                            .expected = "one config.json beside layers, for all of them",
                            .got = "one in the layer's folder"});
    }
  }
  return stack;
}

std::optional<Stack> stack_of_file(const std::string& file, const std::string& prefix) {
  std::set<std::string> names;
  for (const std::string& name : tensor_names(file)) {
    if (!name.starts_with(prefix)) continue;
    const std::string number =
        name.substr(prefix.size(), name.find('.', prefix.size()) - prefix.size());
    if (is_number(number)) names.insert(number);
  }
  if (names.empty()) return std::nullopt;
  Stack stack{.where = escaped(file)};
  for (std::size_t n = 0, count = count_numbered(names, "layers", stack.where, "layers"); n < count;
       ++n)
    stack.prefixes.push_back(prefix + std::to_string(n) + ".");
  return stack;
}

/// The stack that -w, or else the bundle, holds; none where it is a single block. What a stack is
/// read from is no longer among the options.
std::optional<Stack> take_stack(CommonOptions& options) {
  if (options.has("weights")) {
    const std::string weights = options.at("weights");
    const std::string prefix =
        options.has("weights-prefix") ? options.at("weights-prefix") : std::string();
    const std::optional<Stack> stack =
        fs::is_directory(weights) ? stack_of_folder(weights) : stack_of_file(weights, prefix);
    if (stack) {
      options.values.erase("weights");
      options.values.erase("weights-prefix");
    }
    return stack;
  }
  if (options.has("input") && fs::is_directory(options.at("input")))
    return stack_of_folder(options.at("input"));
  return std::nullopt;
}

/// Each layer's weights would be the same, or some of a layer's own would be overruled.
void require_no_shared_weights(const BlockRequest& block, const BlockInputs& beside,
                               const Stack& stack) {
  const Inputs& inputs = block.request.inputs;
  Complaints complaints;
  const auto look = [&](const std::optional<NamedArray>& named, const std::string& what) {
    if (!named) return;
    complaints.add({.what = what + " beside a stack of layers",
                    .where = named->where,
                    .expected = "each layer's own in " + stack.where,
                    .got = "one for all of them"});
  };
  for (const auto weight : attention_weights) look(inputs.*weight, "a weight");
  for (const WeightRow& row : weight_rows) look(beside.*row.target, "a weight");
  look(inputs.past_k, "a cache");
  look(inputs.past_v, "a cache");
  complaints.throw_if_any();
}

Request read_layer(const CommonOptions& options, const Stack& stack, const std::string& file,
                   std::size_t n) {
  CommonOptions of_layer;
  of_layer.further_tensors = options.further_tensors;
  of_layer.further_weights = options.further_weights;
  for (const char* name : {"qkv-order", "heads", "kv-heads"}) {
    if (!options.has(name)) continue;
    of_layer.values[name] = options.at(name);
    of_layer.where[name] = options.place(name);
  }
  if (stack.folders.empty()) {
    of_layer.values["weights"] = file;
    of_layer.values["weights-prefix"] = stack.prefixes[n];
  } else {
    add_weights_folder(stack.folders[n], of_layer);
  }
  return read_request(of_layer);
}

/// Each layer has all weights of a block; what is missing is said by the file, or the names in a
/// file, where it was looked for.
void require_layer_weights(const Stack& stack, const std::string& file, std::size_t n,
                           const Request& of_layer) {
  const Inputs& in = of_layer.inputs;
  const BlockInputs block = block_inputs(of_layer);
  const bool attention = in.wqkv || of_layer.heads.any();
  std::vector<std::string> missing;
  for (const auto& [there, name] : {std::pair{attention || in.wq, "wq"},
                                    {attention || in.wk, "wk"},
                                    {attention || in.wv, "wv"},
                                    {block.ff_w1.has_value(), "ff_w1"},
                                    {block.ff_w2.has_value(), "ff_w2"}}) {
    if (!there) missing.emplace_back(name);
  }
  if (missing.empty()) return;
  const std::string expected =
      "wq, wk and wv (or wqkv, or heads) of the attention, ff_w1 and ff_w2 of the feed-forward, in "
      "each layer";
  if (stack.folders.empty()) {
    throw Error(Complaint{.what = "a layer lacks weights",
                          .where = escaped(file + ":" + stack.prefixes[n]),
                          .expected = expected,
                          .got = "no " + listed(missing)});
  }
  Complaints complaints;
  for (const std::string& name : missing) {
    complaints.add({.what = "a layer lacks a weight",
                    .where = escaped((fs::path(stack.folders[n]) / (name + ".npy")).string()),
                    .expected = expected,
                    .got = "no such file"});
  }
  complaints.throw_if_any();
}

/// A layer that is a list of heads says how many it has, unless the flags or config.json do.
void take_heads(const Request& of_layer, std::size_t n, BlockLayer& layer, BlockRequest& block) {
  const std::size_t count = of_layer.settings.heads;
  if (n == 0 && block.request.settings.heads == 1) block.request.settings.heads = count;
  layer.settings.heads = block.request.settings.heads;
  if (layer.settings.heads == count) return;
  throw Error(Complaint{.what = "heads differ from the layer's",
                        .where = "layer " + std::to_string(n),
                        .expected = std::to_string(layer.settings.heads) +
                                    (n == 0 ? " as in --heads" : " as in layer 0, or --heads"),
                        .got = std::to_string(count) + " folders in its heads"});
}

/// A layer's heads are as wide as x, which the block before gives on in the same shape. Square ones
/// are stored like the feed-forward beside them.
void join_heads_of(const HeadWeights& heads, BlockLayer& layer) {
  if (!heads.any() || !layer.inputs.x) return;
  const BlockOrders orders =
      find_block_orders(with_head_shapes(heads, layer.inputs), layer.block, layer.settings);
  Settings settings = layer.settings;
  settings.weight_order = orders.attention;
  layer.inputs = with_joined_heads(heads, layer.inputs, settings);
}

}  // namespace

std::vector<std::string> block_weight_names() {
  std::vector<std::string> names;
  for (const WeightRow& row : weight_rows) names.emplace_back(row.name);
  return names;
}

void add_block_options(CLI::App& app, CommonOptions& options) {
  add_setting_option(app, options, "norm", "post|pre",
                     "norm(x + f(x)) as published first, or x + f(norm(x)) (post)", "Block");
  add_setting_option(app, options, "norm-kind", "layer|rms",
                     "Mean 0 and variance 1, or mean square 1 (layer)", "Block");
  add_setting_option(app, options, "activation", "relu|gelu|gelu-tanh|silu",
                     "What bends the feed-forward (relu)", "Block");
  add_setting_option(app, options, "eps", "EPS",
                     "Added to the variance, or mean square, under the root (1e-5)", "Block");
  for (const WeightRow& row : weight_rows)
    add_weight_option(app, options, row.name, row.value, row.help);
}

BlockRequest read_block_request(const CommonOptions& given) {
  CommonOptions options = given;
  const std::string file = options.has("weights") ? options.at("weights") : "";
  const std::optional<Stack> stack = take_stack(options);
  BlockRequest block;
  block.request = read_request(options);
  block.settings = block_settings(block.request);
  const BlockInputs beside = block_inputs(block.request);
  if (!stack) {
    block.layers.push_back({"", block.request.inputs, beside, block.request.settings});
    join_heads_of(block.request.heads, block.layers.front());
    return block;
  }
  require_no_shared_weights(block, beside, *stack);
  const std::size_t count = std::max(stack->folders.size(), stack->prefixes.size());
  Complaints complaints;
  for (std::size_t n = 0; n < count; ++n) {
    complaints.attempt([&] {
      const Request of_layer = read_layer(options, *stack, file, n);
      require_layer_weights(*stack, file, n, of_layer);
      BlockLayer layer{.prefix = count > 1 ? std::to_string(n) + "." : "",
                       .inputs = block.request.inputs,
                       .block = block_inputs(of_layer),
                       .settings = block.request.settings};
      for (const auto weight : attention_weights) layer.inputs.*weight = of_layer.inputs.*weight;
      if (of_layer.heads.any()) take_heads(of_layer, n, layer, block);
      join_heads_of(of_layer.heads, layer);
      if (n > 0) layer.inputs.x.reset();
      if (layer.settings.qkv_order == QkvOrder::blocks)
        layer.settings.qkv_order = of_layer.settings.qkv_order;
      block.layers.push_back(std::move(layer));
      std::ranges::copy(of_layer.input_files, std::back_inserter(block.request.input_files));
    });
  }
  complaints.throw_if_any();
  return block;
}

}  // namespace qkv::cli
