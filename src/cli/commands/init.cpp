// qkv init: a bundle of random inputs and weights, the same bytes for the same seed on every
// machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/block_request.hpp"
#include "cli/bundle.hpp"
#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "cli/random_bundle.hpp"
#include "cli/run.hpp"
#include "qkv/base/json.hpp"
#include "qkv/base/text.hpp"
#include "qkv/diagnose/diagnose.hpp"
#include "qkv/io/write.hpp"
#include "qkv/tensor/random.hpp"
#include "qkv/tensor/shape.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

namespace {

struct InitOptions {
  std::string folder;
  std::string batch, seq, d_model, d_k, d_v, heads, kv_heads, cross;
  std::string ff_dim, layers;
  std::string init = "xavier", seed = "0";
  bool bias = false, revealing = false, force = false, block = false, gated = false;
  ConsoleOptions console;
};

/// The sizes that were not given. The revealing ones are all different, several in each axis, no
/// number of heads is another's square or the root of a width, and heads outnumber the square of
/// their groups, so that a wrong axis, factor or divisor gives other numbers.
void fill_in(InitOptions& options) {
  const auto otherwise = [](std::string& size, const char* usual) {
    if (size.empty()) size = usual;
  };
  if (options.revealing && options.heads.empty() && options.kv_heads.empty()) {
    options.heads = "6";
    options.kv_heads = "3";
  }
  const bool sized = !options.d_model.empty() || !options.d_k.empty();
  otherwise(options.batch, "2");
  otherwise(options.seq, options.revealing ? "5" : "4");
  if (options.revealing && !sized) {
    options.d_model = "11";
    options.d_k = "4";
    otherwise(options.d_v, "7");
  }
  otherwise(options.d_model, "8");
  otherwise(options.heads, "1");
  options.bias = options.bias || options.revealing;
}

/// Options that belong to a block without one, or do not go with one.
void require_block(const InitOptions& options) {
  Complaints complaints;
  for (const auto& [given, flag] : {std::pair{!options.ff_dim.empty(), "--ff-dim"},
                                    {!options.layers.empty(), "--layers"},
                                    {options.gated, "--gated"}}) {
    if (!given || options.block) continue;
    complaints.add({.what = "a size of a block without a block",
                    .where = flag,
                    .expected = "--block",
                    .got = "none"});
  }
  for (const auto& [given, flag] :
       {std::pair{!options.cross.empty(), "--cross"}, {options.revealing, "--revealing"}}) {
    if (!given || !options.block) continue;
    complaints.add({.what = "an option of attention alone",
                    .where = std::string(flag) + ", --block",
                    .expected = "one of the two",
                    .got = "both"});
  }
  complaints.throw_if_any();
}

Widths widths(const InitOptions& options) {
  const auto count = [](const std::string& text, const char* flag) {
    return static_cast<std::size_t>(parse_integer(text, flag, 1));
  };
  Widths w{};
  w.B = count(options.batch, "--batch");
  w.L = count(options.seq, "--seq");
  w.S = options.cross.empty() ? w.L : count(options.cross, "--cross");
  w.E = count(options.d_model, "--d-model");
  w.H = count(options.heads, "--heads");
  w.G = options.kv_heads.empty() ? w.H : count(options.kv_heads, "--kv-heads");
  if (w.H % w.G != 0) {
    throw Error(Complaint{.what = "query heads are no multiple of key/value heads",
                          .where = "--kv-heads",
                          .expected = "a divisor of H = " + std::to_string(w.H) + " as in --heads",
                          .got = std::to_string(w.G)});
  }
  if (options.d_k.empty() && w.E % w.H != 0) {
    throw Error(
        Complaint{.what = "heads do not divide the width",
                  .where = "--heads",
                  .expected = "a divisor of E = " + std::to_string(w.E) + " as in --d-model",
                  .got = std::to_string(w.H),
                  .hint = "or give the width of a head with --d-k"});
  }
  w.D = options.d_k.empty() ? w.E / w.H : count(options.d_k, "--d-k");
  w.Dv = options.d_v.empty() ? w.D : count(options.d_v, "--d-v");
  // Four times the width of the model, as Vaswani et al. 2017 have it.
  if (options.block) w.F = options.ff_dim.empty() ? 4 * w.E : count(options.ff_dim, "--ff-dim");
  if (!options.layers.empty()) w.layers = count(options.layers, "--layers");
  return w;
}

void require_size(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    const auto count = checked_count(part.shape);
    if (count && *count <= (std::size_t{1} << 40)) continue;
    throw Error(Complaint{.what = "tensor too large",
                          .where = part.name,
                          .expected = "less than 2^40 elements",
                          .got = shape_text(part.shape)});
  }
}

/// Layers of a former bundle would be read with the new ones, whatever was replaced.
void require_no_former_layers(const std::string& folder, std::size_t layers) {
  const fs::path next = fs::path(folder) / "layers" / std::to_string(layers);
  const fs::path former = layers == 0 ? fs::path(folder) / "layers" : next;
  if (!fs::exists(former)) return;
  throw Error(Complaint{.what = "the folder holds layers that would stay",
                        .where = former.string(),
                        .expected = "no more layers than are written",
                        .got = "a folder",
                        .hint = "choose another folder, or remove it"});
}

/// So would a former bundle's tensors of other names, such as an output weight.
void require_no_former_tensors(const std::string& folder, const std::vector<Part>& parts) {
  std::vector<std::string> files;
  for (const std::string& name : bundle_tensor_names()) files.push_back(bundle_file(folder, name));
  for (const std::string& name : block_weight_names()) files.push_back(bundle_file(folder, name));
  files.push_back((fs::path(folder) / "heads").string());
  for (const std::string& file : files) {
    const auto writes = [&](const Part& part) { return bundle_file(folder, part.name) == file; };
    if (!fs::exists(file) || std::ranges::any_of(parts, writes)) continue;
    throw Error(Complaint{.what = "the folder holds a tensor that would stay",
                          .where = file,
                          .expected = "none but those that are written",
                          .got = fs::is_directory(file) ? "a folder" : "a file",
                          .hint = "choose another folder, or remove it"});
  }
}

void require_free_names(const InitOptions& options, const std::vector<Part>& parts) {
  if (options.force) return;
  std::vector<std::string> names = {"config.json"};
  for (const Part& part : parts) names.push_back(part.name + ".npy");
  for (const std::string& name : names) {
    if (!fs::exists(fs::path(options.folder) / name)) continue;
    throw Error(Complaint{.what = "the folder already holds a bundle",
                          .where = (fs::path(options.folder) / name).string(),
                          .expected = "a new folder",
                          .got = "a file",
                          .hint = "choose another folder, or --force to replace it"});
  }
}

/// Only what is not the default, so that q, k and v given by flag bring heads of their own.
Json config_of(const Widths& w) {
  Json config = Json::object();
  if (w.H > 1) config.add("heads", w.H);
  if (w.G != w.H) config.add("kv-heads", w.G);
  config.add("weight-order", "in-out");
  return config;
}

/// What the bundle cannot show in spite of --revealing, because of the sizes that were given.
std::vector<Blind> hidden_faults(const InitOptions& options) {
  CommonOptions common;
  common.values["input"] = options.folder;
  const Request request = read_request(std::move(common));
  std::vector<Blind> hidden = blind_spots(make_case(request.inputs, request.settings, {}));
  for (Blind& blind : hidden)
    std::erase(blind.hides, "causal-align");  // no bundle of init is causal
  std::erase_if(hidden, [](const Blind& blind) { return blind.hides.empty(); });
  return hidden;
}

int run_init(InitOptions options) {
  require_block(options);
  fill_in(options);
  text_style(options.console);
  const Widths w = widths(options);
  const auto how = static_cast<Init>(
      parse_choice(options.init, "--init", {"xavier", "kaiming", "uniform", "normal"}));
  const auto seed = static_cast<std::uint64_t>(parse_integer(options.seed, "--seed", 0));
  const std::vector<Part> files = bundle_parts(
      w, {.context = !options.cross.empty(), .bias = options.bias, .gated = options.gated});
  require_size(files);
  require_free_names(options, files);
  require_no_former_layers(options.folder, w.layers);
  require_no_former_tensors(options.folder, files);
  make_folder(options.folder, "DIR");
  for (std::size_t n = 0; n < w.layers; ++n)
    make_folder((fs::path(options.folder) / "layers" / std::to_string(n)).string(), "DIR");

  const fs::path folder = options.folder;
  std::string text;
  Json written = Json::array();
  for (const Part& part : files) {
    Random random(seed, part.name);
    auto tensor = Tensor<float, 1>::make({element_count(part.shape)});
    for (float& value : tensor.elements()) value = draw(part, how, random);
    const std::string file = (folder / (part.name + ".npy")).string();
    write_npy(file, reshaped(as_array(tensor), part.shape));
    text += file + " " + shape_text(part.shape) + "\n";
    Json shape = Json::array();
    for (const std::size_t axis : part.shape) shape.push(axis);
    written.push(Json::object({{"file", file}, {"shape", shape}}));
  }
  OutputFile config((folder / "config.json").string());
  config.write(config_of(w).dump());
  config.commit();
  text += (folder / "config.json").string() + "\n";
  if (options.revealing) {
    for (const Blind& blind : hidden_faults(options)) {
      note(options.console, fmt::format("{} hides {}; {} would show it", blind.property,
                                        listed(blind.hides), blind.show_with));
    }
  }
  if (options.console.json) {
    print(Json::object({{"schema", "qkv.init/1"},
                        {"folder", options.folder},
                        {"seed", static_cast<std::size_t>(seed)},
                        {"files", written}})
              .dump());
  } else if (!options.console.quiet) {
    print(text);
  }
  return done;
}

}  // namespace

Action add_init(CLI::App& app) {
  auto options = std::make_shared<InitOptions>();
  app.add_option("DIR", options->folder, "The folder to make")->type_name("DIR")->required();
  app.add_option("--batch", options->batch, "B (2)")->type_name("B");
  app.add_option("--seq", options->seq, "L (4; revealing: 5)")->type_name("L");
  app.add_option("--d-model", options->d_model, "E, width of x (8; revealing: 11)")->type_name("E");
  app.add_option("--d-k", options->d_k, "D, width of a query and key head (E/H)")->type_name("D");
  app.add_option("--d-v", options->d_v, "Dv, width of a value head (D)")->type_name("Dv");
  app.add_option("--heads", options->heads,
                 "H, query heads (1; revealing: 6, in 3 groups); several get an output weight")
      ->type_name("H");
  app.add_option("--kv-heads", options->kv_heads, "G, key/value heads (H)")->type_name("G");
  app.add_flag("--bias", options->bias, "Biases too");
  app.add_flag("--block", options->block,
               "The norms and the feed-forward of an encoder block too, for qkv block");
  app.add_option("--ff-dim", options->ff_dim, "F, width of the feed-forward (4*E)")->type_name("F");
  app.add_flag("--gated", options->gated, "A gated feed-forward: ff_w3 too");
  app.add_option("--layers", options->layers, "Blocks in layers/0 ... N-1 (one, without layers)")
      ->type_name("N");
  app.add_option("--cross", options->cross, "A context of S positions for cross-attention")
      ->type_name("S");
  app.add_option("--init", options->init, "How weights are drawn (xavier)")
      ->type_name("xavier|kaiming|uniform|normal");
  app.add_option("--seed", options->seed, "Same seed, same bytes, on every machine (0)")
      ->type_name("N");
  app.add_flag("--revealing", options->revealing,
               "Sizes and biases with which every fault of the configuration shows");
  app.add_flag("--force", options->force, "Replace a bundle that is there");
  add_console_options(app, options->console);
  return [options] { return run_init(*options); };
}

}  // namespace qkv::cli
