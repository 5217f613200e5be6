// qkv init: a bundle of random inputs and weights, the same bytes for the same seed on every
// machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "cli/run.hpp"
#include "qkv/base/json.hpp"
#include "qkv/base/text.hpp"
#include "qkv/diagnose/diagnose.hpp"
#include "qkv/io/write.hpp"
#include "qkv/tensor/random.hpp"
#include "qkv/tensor/shape.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv::cli {

namespace {

struct InitOptions {
  std::string folder;
  std::string batch, seq, d_model, d_k, d_v, heads, kv_heads, cross;
  std::string init = "xavier", seed = "0";
  bool bias = false, revealing = false, force = false;
  ConsoleOptions console;
};

enum class Init { xavier, kaiming, uniform, normal };

/// One file of the bundle. fan_in and fan_out are the widths of the linear map, 0 for an input.
struct Part {
  std::string name;
  Shape shape;
  std::size_t fan_in = 0, fan_out = 0;
  bool bias = false;
};

/// xavier   U(-a, a), a = sqrt(6/(fan_in+fan_out))   Glorot & Bengio 2010, equation 16
/// kaiming  U(-a, a), a = sqrt(6/fan_in)             He et al. 2015 (arXiv:1502.01852), equation
/// 10, as a uniform uniform  U(0, 1)                                  torch.rand normal   N(0,
/// 0.02^2)                             GPT-2 and BERT Biases are U(-a, a), a = 1/sqrt(fan_in), as
/// torch.nn.Linear has them; inputs are N(0, 1).
float draw(const Part& part, Init init, Random& random) {
  if (part.fan_in == 0) return static_cast<float>(random.normal());
  const auto in = static_cast<double>(part.fan_in), out = static_cast<double>(part.fan_out);
  if (part.bias) return static_cast<float>((2 * random.uniform() - 1) / std::sqrt(in));
  switch (init) {
    case Init::xavier:
      return static_cast<float>((2 * random.uniform() - 1) * std::sqrt(6 / (in + out)));
    case Init::kaiming:
      return static_cast<float>((2 * random.uniform() - 1) * std::sqrt(6 / in));
    case Init::uniform:
      return static_cast<float>(random.uniform());
    case Init::normal:
      return static_cast<float>(0.02 * random.normal());
  }
  return 0;
}

struct Widths {
  std::size_t B, L, S, E, H, G, D, Dv;
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
  return w;
}

std::vector<Part> parts(const InitOptions& options, const Widths& w) {
  std::vector<Part> parts = {{"x", {w.B, w.L, w.E}}};
  if (!options.cross.empty()) parts.push_back({"context", {w.B, w.S, w.E}});
  const auto linear = [&](const std::string& role, std::size_t in, std::size_t out) {
    parts.push_back({"w" + role, {in, out}, in, out});
    if (options.bias) parts.push_back({"b" + role, {out}, in, out, true});
  };
  linear("q", w.E, w.H * w.D);
  linear("k", w.E, w.G * w.D);
  linear("v", w.E, w.G * w.Dv);
  // Several heads are mixed again; one is the result itself.
  if (w.H > 1) linear("o", w.H * w.Dv, w.E);
  return parts;
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

void require_free_names(const InitOptions& options, const std::vector<Part>& parts) {
  if (options.force) return;
  namespace fs = std::filesystem;
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
  fill_in(options);
  text_style(options.console);
  const Widths w = widths(options);
  const auto init = static_cast<Init>(
      parse_choice(options.init, "--init", {"xavier", "kaiming", "uniform", "normal"}));
  const auto seed = static_cast<std::uint64_t>(parse_integer(options.seed, "--seed", 0));
  const std::vector<Part> files = parts(options, w);
  require_size(files);
  require_free_names(options, files);
  make_folder(options.folder, "DIR");

  const std::filesystem::path folder = options.folder;
  std::string text;
  Json written = Json::array();
  for (const Part& part : files) {
    Random random(seed, part.name);
    auto tensor = Tensor<float, 1>::make({element_count(part.shape)});
    for (float& value : tensor.elements()) value = draw(part, init, random);
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
