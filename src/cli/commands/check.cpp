// qkv check: the checks of trace on tensors from elsewhere.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/describe.hpp"
#include "cli/foreign.hpp"
#include "cli/numbers.hpp"
#include "cli/run.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/base/text.hpp"

namespace qkv::cli {

namespace {

struct CheckOptions {
  CommonOptions common;
  ConsoleOptions console;
  std::string d_k, tolerance;
};

constexpr std::string_view shared_options[] = {"q",
                                               "k",
                                               "v",
                                               "layout",
                                               "heads",
                                               "kv-heads",
                                               "causal",
                                               "causal-align",
                                               "window",
                                               "mask",
                                               "mask-true",
                                               "key-padding",
                                               "padding-true",
                                               "lengths",
                                               "fill",
                                               "empty-rows",
                                               "like",
                                               "scale",
                                               "temperature",
                                               "softcap",
                                               "alibi",
                                               "sinks",
                                               "dropout"};

/// "tensors   B=2 H=4 L=5 S=7 D=3   mask causal (start); …   float32, rounding 1.19e-07"
std::string headline_of(const Request& request, const Foreign& foreign, bool tolerance_given) {
  const Sizes& sizes = foreign.evidence.sizes;
  std::string line = "tensors   ";
  if (sizes.has_batch) line += fmt::format("B={} ", sizes.B);
  if (sizes.has_heads) line += fmt::format("H={} ", sizes.H);
  if (sizes.has_heads && sizes.G != sizes.H) line += fmt::format("G={} ", sizes.G);
  line += fmt::format("L={} S={}", sizes.L, sizes.S);
  if (sizes.D > 0) line += fmt::format(" D={}", sizes.D);
  if (sizes.Dv > 0) line += fmt::format(" Dv={}", sizes.Dv);
  const bool from_masked =
      foreign.visibility != nullptr && !has_masked_stage(request.inputs, request.settings);
  line += fmt::format("   {}   rounding {} ({})",
                      from_masked ? "mask as in masked" : mask_words(request),
                      short_number(foreign.evidence.eps),
                      tolerance_given ? "--tol" : std::string(name(foreign.coarsest)));
  if (!request.settings.preset.empty()) line += "\n" + preset_words(request);
  return line;
}

/// What is known of the configuration: sizes and settings that some tensor or flag set.
std::vector<ConfigEntry> config_of(const Request& request, const Foreign& foreign) {
  const Sizes& sizes = foreign.evidence.sizes;
  const Settings& settings = request.settings;
  std::vector<ConfigEntry> entries = config_entries(request, sizes);
  std::erase_if(entries, [&](const ConfigEntry& entry) {
    const bool size = entry.kind == ConfigEntry::Kind::number && entry.key.size() <= 2;
    const bool no_scale =
        entry.key == "scale" && sizes.D == 0 && !settings.scale && !settings.temperature;
    return entry.key == "kind" || entry.key == "compute" || (size && entry.number == 0) || no_scale;
  });
  entries.push_back(
      {.kind = ConfigEntry::Kind::number, .key = "rounding", .number = foreign.evidence.eps});
  return entries;
}

void require_something(const Request& request) {
  const Inputs& inputs = request.inputs;
  if (!request.further_tensors.empty() || inputs.q || inputs.k || inputs.v || inputs.mask ||
      inputs.key_padding) {
    return;
  }
  throw Error(Complaint{.what = "no tensor to check",
                        .where = "--attn",
                        .expected = "at least one of --attn, --scores, --scaled, --masked, --mask, "
                                    "--q, --k, --v, --heads-out and --out",
                        .got = "none"});
}

int run_check(const CheckOptions& options) {
  const TextStyle style = text_style(options.console);
  std::optional<std::size_t> d_k;
  if (!options.d_k.empty()) d_k = static_cast<std::size_t>(parse_integer(options.d_k, "--d-k", 1));
  const bool tolerance_given = !options.tolerance.empty();
  const double tolerance = tolerance_given ? parse_tolerance(options.tolerance) : 0;
  const Request request = read_request(options.common);
  require_something(request);
  Foreign foreign = read_foreign(request, d_k);
  if (tolerance_given) foreign.evidence.eps = tolerance;

  const TraceReport report{.headline = headline_of(request, foreign, tolerance_given),
                           .config = config_of(request, foreign),
                           .stages = foreign.rows,
                           .checks = run_checks(foreign.evidence),
                           .heads = head_statistics(foreign.evidence)};
  print(options.console.json ? check_json(report) : check_text(report, style));
  const bool judged = std::ranges::any_of(
      report.checks, [](const CheckResult& check) { return check.status != Status::skip; });
  if (!judged) {
    throw Error(Complaint{.what = "nothing could be judged",
                          .expected = "tensors that some check can be made on",
                          .got = "only ones that every check skipped",
                          .hint = "each line above says what that check needs"});
  }
  return worst_status(report.checks) == Status::fail ? negative : done;
}

}  // namespace

Action add_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  add_stage_options(app, options->common);
  add_some_options(app, options->common, shared_options);
  app.add_option("--d-k", options->d_k,
                 "Width of a head of Q and K, for softmax.rank and the scale")
      ->type_name("N")
      ->group("Tensors");
  app.add_option("--tol", options->tolerance,
                 "Relative rounding that the tensors may have, in place of that of their type")
      ->type_name("EPS")
      ->group("Tensors");
  add_console_options(app, options->console);
  return [options] { return run_check(*options); };
}

}  // namespace qkv::cli
