// From words to settings: numbers, choices and limits, each with its error.
#include "cli/read_settings.hpp"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#include "cli/numbers.hpp"
#include "qkv/base/text.hpp"

namespace qkv::cli {

namespace {

constexpr std::string_view computes[] = {"f32", "f64", "f16", "bf16"};  // by Compute

std::vector<std::string> compute_names() { return {std::begin(computes), std::end(computes)}; }

class SettingsReader {
 public:
  SettingsReader(const CommonOptions& options, Request& request)
      : options_(options), request_(request) {}

  void read(Complaints& complaints) {
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
    when("scale", [&] {
      s.scale = options_.at("scale") == "none" ? 1.0 : finite("scale", "a number, or none for 1");
    });
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
    request_.compute_place = options_.place("compute");
    when("compute", [&] { choice("compute", compute_names(), request_.compute); });
    s.arithmetic = request_.compute == Compute::f16    ? Arithmetic::float16
                   : request_.compute == Compute::bf16 ? Arithmetic::bfloat16
                                                       : Arithmetic::native;
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

 private:
  template <class Enum>
  void choice(const std::string& name, const std::vector<std::string>& choices, Enum& target) {
    if (options_.has(name))
      target = static_cast<Enum>(parse_choice(options_.at(name), options_.place(name), choices));
  }

  double number(const std::string& name, const std::string& expected = "a number") const {
    return parse_number(options_.at(name), options_.place(name), expected);
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

  double finite(const std::string& name, const std::string& expected = "a finite number") const {
    const double value = number(name, expected);
    if (std::isfinite(value)) return value;
    throw Error(Complaint{.what = "not a finite number",
                          .where = options_.place(name),
                          .expected = expected,
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
    const std::string expected = "a number, -inf or min";
    if (number("fill", expected) == -HUGE_VAL) return {};
    return {Fill::Kind::number, finite("fill", expected)};
  }

  const CommonOptions& options_;
  Request& request_;
};

}  // namespace

void read_settings(const CommonOptions& options, Request& request, Complaints& complaints) {
  SettingsReader(options, request).read(complaints);
}

std::string_view name(Compute compute) { return computes[static_cast<std::size_t>(compute)]; }

std::size_t element_size(Compute compute) {
  return compute == Compute::f32 ? 4 : compute == Compute::f64 ? 8 : 2;
}

void require_full_precision(const Request& request, const std::string& what,
                            const std::string& hint) {
  if (request.compute == Compute::f32 || request.compute == Compute::f64) return;
  throw Error(Complaint{.what = what,
                        .where = request.compute_place,
                        .expected = "f32 or f64",
                        .got = std::string(name(request.compute)),
                        .hint = hint});
}

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
