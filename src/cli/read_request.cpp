// From words to inputs and settings: flags, bundle, weights file and preset.
#include <sys/sysinfo.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/bundle.hpp"
#include "cli/common_options.hpp"
#include "cli/numbers.hpp"
#include "cli/option_list.hpp"
#include "cli/weight_names.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

namespace {

Array integers(const std::vector<long long>& values) {
  auto memory = allocate_bytes(values.size() * sizeof(long long));
  std::copy(values.begin(), values.end(), reinterpret_cast<long long*>(memory.get()));
  return row_major_array(DType::int64, {values.size()}, memory.get(), memory);
}

class Reader {
 public:
  explicit Reader(CommonOptions options) : options_(std::move(options)) {}

  Request read() {
    read_streamed();
    Complaints complaints;
    complaints.attempt([&] { find_files(); });
    complaints.throw_if_any();
    read_inputs(complaints);
    read_settings(complaints);
    if (complaints.empty()) complaints.attempt([&] { read_preset(); });
    complaints.throw_if_any();
    return std::move(request_);
  }

 private:
  /// The n-th "-" on the command line is the n-th array of the stream, in whatever order the
  /// options are used later.
  void read_streamed() {
    if (options_.app == nullptr) return;
    for (const CLI::Option* option : options_.app->parse_order()) {
      const std::string name =
          option->get_lnames().empty() ? "input" : option->get_lnames().front();
      if (!options_.has(name) || streamed_.contains(name)) continue;
      const std::string& argument = options_.at(name);
      if (argument == "-" || argument.starts_with("-["))
        streamed_[name] = read_tensor(argument, stdin_);
    }
  }

  void find_files() {
    if (options_.has("input") && !streamed_.contains("input") &&
        fs::is_directory(options_.at("input"))) {
      add_bundle(options_.at("input"), options_);
    }
    if (!options_.has("weights")) {
      if (options_.has("weights-prefix")) {
        throw Error(Complaint{.what = "a prefix without a weights file",
                              .where = options_.place("weights-prefix"),
                              .expected = "-w FILE",
                              .got = "none"});
      }
      return;
    }
    const std::string& weights = options_.at("weights");
    if (fs::is_directory(weights)) {
      add_weights_folder(weights, options_);
      return;
    }
    const bool projected = options_.has("q") || options_.has("k") || options_.has("v");
    const std::string prefix = options_.has("weights-prefix") ? options_.at("weights-prefix") : "";
    for (const WeightName& weight : find_weights(tensor_names(weights), prefix, weights)) {
      const bool output = weight.role == "wo" || weight.role == "bo";
      if (options_.has(weight.role) || (projected && !output)) continue;
      options_.values[weight.role] = weight.name.empty() ? weights : weights + ":" + weight.name;
      if (weight.out_in) out_in_.push_back(weight.role);
      if (weight.order && !options_.has("qkv-order")) request_.settings.qkv_order = *weight.order;
    }
  }

  // --- tensors
  // ----------------------------------------------------------------------------------------------------

  NamedArray tensor(const std::string& name) {
    const std::string& argument = options_.at(name);
    NamedArray named;
    named.where = argument == "-" ? "stdin, --" + name : escaped(argument);
    if (name == "input" && argument == "-") named.where = "stdin, X";
    const auto streamed = streamed_.find(name);
    if (streamed != streamed_.end()) {
      named.array = streamed->second;
    } else {
      named.array = read_tensor(argument, stdin_);
      request_.input_files.push_back(split_file(argument));
    }
    named.known_out_in = std::ranges::find(out_in_, name) != out_in_.end();
    return named;
  }

  void read_inputs(Complaints& complaints) {
    Inputs& inputs = request_.inputs;
    const std::pair<const char*, std::optional<NamedArray>*> roles[] = {
        {"input", &inputs.x},
        {"context", &inputs.context},
        {"q", &inputs.q},
        {"k", &inputs.k},
        {"v", &inputs.v},
        {"wq", &inputs.wq},
        {"wk", &inputs.wk},
        {"wv", &inputs.wv},
        {"wo", &inputs.wo},
        {"bq", &inputs.bq},
        {"bk", &inputs.bk},
        {"bv", &inputs.bv},
        {"bo", &inputs.bo},
        {"wqkv", &inputs.wqkv},
        {"bqkv", &inputs.bqkv},
        {"mask", &inputs.mask},
        {"key-padding", &inputs.key_padding},
        {"sinks", &inputs.sinks},
        {"q-norm", &inputs.q_norm},
        {"k-norm", &inputs.k_norm},
        {"past-k", &inputs.past_k},
        {"past-v", &inputs.past_v}};
    for (const auto& [name, role] : roles) {
      if (options_.has(name)) complaints.attempt([&, n = name, r = role] { *r = tensor(n); });
    }
    for (const std::string& name : options_.further_tensors) {
      if (!options_.has(name)) continue;
      complaints.attempt([&] { request_.further_tensors[name] = tensor(name); });
    }
    if (options_.has("lengths"))
      complaints.attempt([&] { inputs.lengths = numbers_or_tensor("lengths", 0); });
    if (options_.has("position")) complaints.attempt([&] { read_position(); });
  }

  /// "3,4" is a list, anything else a tensor argument.
  NamedArray numbers_or_tensor(const std::string& name, long long least) {
    const std::string& text = options_.at(name);
    if (text.find_first_not_of("0123456789,+-") == std::string::npos && text != "-") {
      return {integers(parse_integers(text, options_.place(name), least)), options_.place(name)};
    }
    return tensor(name);
  }

  void read_position() {
    const NamedArray position =
        numbers_or_tensor("position", std::numeric_limits<long long>::min());
    const bool typed = position.where == options_.place("position");
    if (typed && position.array.shape == Shape{1}) {
      request_.settings.first_position = parse_integer(options_.at("position"), position.where,
                                                       std::numeric_limits<long long>::min());
    } else {
      request_.inputs.position = position;
    }
  }

  // --- settings
  // ---------------------------------------------------------------------------------------------------

  template <class Enum>
  void choice(const std::string& name, const std::vector<std::string>& choices, Enum& target) {
    if (options_.has(name))
      target = static_cast<Enum>(parse_choice(options_.at(name), options_.place(name), choices));
  }

  double number(const std::string& name) const {
    return parse_number(options_.at(name), options_.place(name));
  }

  double positive(const std::string& name) const {
    const double value = number(name);
    if (value > 0 && std::isfinite(value)) return value;
    throw Error(Complaint{.what = "not a positive number",
                          .where = options_.place(name),
                          .expected = "a number greater than 0",
                          .got = options_.at(name)});
  }

  std::size_t count(const std::string& name) const {
    return static_cast<std::size_t>(parse_integer(options_.at(name), options_.place(name), 1));
  }

  void read_settings(Complaints& complaints) {
    Settings& s = request_.settings;
    const auto when = [&](const std::string& name, auto&& step) {
      if (options_.has(name)) complaints.attempt(step);
    };
    when("heads", [&] { s.heads = count("heads"); });
    when("kv-heads", [&] { s.kv_heads = count("kv-heads"); });
    when("layout", [&] { choice("layout", {"bhld", "blhd"}, s.layout); });
    when("weight-order", [&] {
      choice("weight-order", {"auto", "in-out", "out-in"}, s.weight_order);
    });
    when("qkv-order", [&] {
      choice("qkv-order", {"blocks", "per-head", "per-group"}, s.qkv_order);
    });
    s.causal = options_.has("causal");
    when("causal-align", [&] { choice("causal-align", {"start", "end"}, s.causal_align); });
    when("window", [&] { s.window = window(); });
    when("mask-true", [&] { choice("mask-true", {"attend", "hide"}, s.mask_true); });
    when("padding-true", [&] { choice("padding-true", {"attend", "hide"}, s.padding_true); });
    when("fill", [&] { s.fill = fill(); });
    when("empty-rows", [&] { choice("empty-rows", {"zero", "nan", "uniform"}, s.empty_rows); });
    when("scale", [&] { s.scale = options_.at("scale") == "none" ? 1.0 : finite("scale"); });
    when("temperature", [&] { s.temperature = positive("temperature"); });
    when("softcap", [&] { softcap(); });
    s.alibi = options_.has("alibi");
    when("qk-norm", [&] {
      QkNorm kind = QkNorm::rms;
      choice("qk-norm", {"rms", "layer", "l2"}, kind);
      s.qk_norm = kind;
    });
    when("norm-eps", [&] { s.norm_eps = positive("norm-eps"); });
    when("dropout", [&] { s.dropout = share("dropout"); });
    when("seed", [&] {
      s.seed =
          static_cast<std::uint64_t>(parse_integer(options_.at("seed"), options_.place("seed"), 0));
    });
    when("rope", [&] { s.rope_base = positive("rope"); });
    when("rope-style", [&] { choice("rope-style", {"half", "interleaved"}, s.rope_style); });
    when("rope-dim", [&] { s.rope_dim = count("rope-dim"); });
    when("compute", [&] { choice("compute", {"f32", "f64"}, request_.compute); });
    request_.threads = std::max(1u, std::thread::hardware_concurrency());
    when("threads", [&] { request_.threads = count("threads"); });
    request_.memory_limit_given = options_.has("memory-limit");
    when("memory-limit", [&] {
      request_.memory_limit =
          parse_bytes(options_.at("memory-limit"), options_.place("memory-limit"));
    });
    if (!request_.memory_limit_given) request_.memory_limit = default_memory_limit();

    if (s.scale && s.temperature) {
      complaints.add({.what = "both scale and temperature",
                      .where = options_.place("scale") + ", " + options_.place("temperature"),
                      .expected = "one of the two: temperature T is the scale 1/T"});
    }
    without("norm-eps", "qk-norm", "an epsilon without a normalisation",
            "--qk-norm rms, layer or l2", complaints);
    without("seed", "dropout", "a seed without dropout", "--dropout P", complaints);
    if (!s.rope_base && options_.has("rope-style")) {
      complaints.add({.what = "a rotary style without rotation",
                      .where = options_.place("rope-style"),
                      .expected = "--rope BASE",
                      .got = "none"});
    }
    if (options_.has("mask-true") && !options_.has("mask")) {
      complaints.add({.what = "a mask meaning without a mask",
                      .where = options_.place("mask-true"),
                      .expected = "--mask",
                      .got = "none"});
    }
    if (options_.has("padding-true") && !options_.has("key-padding")) {
      complaints.add({.what = "a padding meaning without key padding",
                      .where = options_.place("padding-true"),
                      .expected = "--key-padding",
                      .got = "none"});
    }
    if (s.heads % s.kv_heads.value_or(s.heads) != 0) {
      complaints.add({.what = "query heads are no multiple of key/value heads",
                      .where = options_.place("kv-heads"),
                      .expected = "a divisor of H = " + std::to_string(s.heads) + " as in --heads",
                      .got = options_.at("kv-heads")});
    }
  }

  /// Complains of an option that says how, where the one that says what is missing.
  void without(const std::string& name, const std::string& needed, const std::string& what,
               const std::string& expected, Complaints& complaints) const {
    if (!options_.has(name) || options_.has(needed)) return;
    complaints.add(
        {.what = what, .where = options_.place(name), .expected = expected, .got = "none"});
  }

  double share(const std::string& name) const {
    const double value = number(name);
    if (value >= 0 && value <= 1) return value;
    throw Error(Complaint{.what = "not a share",
                          .where = options_.place(name),
                          .expected = "a number from 0 to 1",
                          .got = options_.at(name)});
  }

  void read_preset() {
    if (!options_.has("like")) return;
    const Given given{.mask_true = options_.has("mask-true"),
                      .padding_true = options_.has("padding-true"),
                      .causal_align = options_.has("causal-align"),
                      .fill = options_.has("fill"),
                      .empty_rows = options_.has("empty-rows")};
    Settings& s = request_.settings;
    s = with_preset(find_preset(options_.at("like")), s, request_.inputs, given);
  }

  double finite(const std::string& name) const {
    const double value = number(name);
    if (std::isfinite(value)) return value;
    throw Error(Complaint{.what = "not a finite number",
                          .where = options_.place(name),
                          .expected = "a finite number",
                          .got = options_.at(name)});
  }

  /// A cap of 0 is no cap, as in ONNX and flash attention.
  void softcap() {
    const double cap = finite("softcap");
    if (cap < 0)
      throw Error(Complaint{.what = "negative softcap",
                            .where = options_.place("softcap"),
                            .expected = "a number greater than 0, or 0 for none",
                            .got = options_.at("softcap")});
    if (cap > 0) request_.settings.softcap = cap;
  }

  Window window() const {
    const std::vector<long long> sides =
        parse_integers(options_.at("window"), options_.place("window"), -1);
    if (sides.size() > 2)
      throw Error(Complaint{.what = "too many numbers",
                            .where = options_.place("window"),
                            .expected = "LEFT or LEFT,RIGHT",
                            .got = options_.at("window")});
    return {sides[0], sides.size() == 2 ? sides[1] : -1};
  }

  Fill fill() const {
    const std::string& text = options_.at("fill");
    if (text == "min") return {Fill::Kind::lowest, 0};
    const double value = number("fill");
    if (value == -HUGE_VAL) return {};
    return {Fill::Kind::number, finite("fill")};
  }

  CommonOptions options_;
  Request request_;
  TensorStream stdin_{STDIN_FILENO};
  std::map<std::string, Array> streamed_;
  std::vector<std::string> out_in_;  ///< roles whose tensor's name says out-in
};

}  // namespace

Request read_request(CommonOptions options) { return Reader(std::move(options)).read(); }

double default_memory_limit() {
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  double kibibytes = 0;
  while (meminfo >> word) {
    if (word == "MemAvailable:" && meminfo >> kibibytes) return 0.8 * 1024 * kibibytes;
  }
  // Without /proc only the memory as a whole is known, not how much of what is in use could be
  // freed.
  struct sysinfo total = {};
  if (sysinfo(&total) == 0)
    return 0.8 * static_cast<double>(total.totalram) * static_cast<double>(total.mem_unit);
  return 0;  // not known: nothing is refused
}

}  // namespace qkv::cli
