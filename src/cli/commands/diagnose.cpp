// qkv diagnose: from the user's own wrong tensors to the name of the fault.
#include "qkv/diagnose/diagnose.hpp"

#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>

#include "cli/bundle.hpp"
#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/memory.hpp"
#include "cli/numbers.hpp"
#include "cli/progress.hpp"
#include "cli/run.hpp"
#include "qkv/attention/round_inputs.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"
#include "qkv/report/diagnose_report.hpp"
#include "qkv/tensor/matmul.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

namespace {

struct DiagnoseOptions {
  CommonOptions common;
  ConsoleOptions console;
  std::string got, tolerance;
  std::map<std::string, std::string> got_stages;
};

NamedArray read_named(const std::string& argument) {
  TensorStream no_stream(STDIN_FILENO);
  return {read_tensor(argument, no_stream), escaped(argument)};
}

/// The stages of a dumped folder, or of an .npz: what is called like a stage that this
/// configuration has.
void read_together(const std::string& place, const std::vector<StageShape>& present,
                   std::map<std::string, NamedArray>& got) {
  if (!fs::exists(place))
    throw Error(Complaint{.what = "no such folder or file", .where = "--got " + escaped(place)});
  for (const StageShape& stage : present) {
    // The input is taken from the command line; a dump of it says nothing about the computation.
    if (got.contains(stage.id) || stage.id == "x" || stage.id == "context") continue;
    if (fs::is_directory(place)) {
      const std::string file = (fs::path(place) / (stage.id + ".npy")).string();
      if (fs::exists(file)) got.emplace(stage.id, read_named(file));
      continue;
    }
    for (const std::string& member : tensor_names(place)) {
      if (member == stage.id || member == stage.id + ".npy")
        got.emplace(stage.id, read_named(place + ":" + member));
    }
  }
}

std::map<std::string, NamedArray> read_got(const DiagnoseOptions& options,
                                           const std::vector<StageShape>& present) {
  std::map<std::string, NamedArray> got;
  Complaints complaints;
  for (const auto& [stage, file] : options.got_stages) {
    complaints.attempt([&, id = stage, argument = file] { got.emplace(id, read_named(argument)); });
  }
  if (!options.got.empty()) complaints.attempt([&] { read_together(options.got, present, got); });
  complaints.throw_if_any();
  if (got.empty()) {
    throw Error(
        Complaint{.what = "no stage to judge",
                  .where = options.got.empty() ? "--got" : "--got " + escaped(options.got),
                  .expected = "a folder with out.npy, attn.npy ..., or --got-out FILE",
                  .got = options.got.empty() ? "none" : "no file that is named like a stage",
                  .hint = "stages of this configuration: " + [&] {
                    std::vector<std::string> names;
                    for (const StageShape& stage : present) names.push_back(stage.id);
                    return listed(names);
                  }()});
  }
  return got;
}

/// The user's own tensors, with the inputs, for the checks.
Evidence<double> user_evidence(const Case& the_case, const Request& request) {
  const Problem<double>& problem = the_case.problem;
  Evidence<double> evidence;
  evidence.sizes = problem.sizes;
  evidence.settings = problem.settings;
  evidence.inputs = &request.inputs;
  evidence.eps = the_case.eps;
  evidence.sinks = problem.sinks;
  evidence.visibility = &problem.visibility;
  evidence.memory_limit = request.memory_limit;
  evidence.x = problem.x;
  if (!problem.sizes.projects) {
    evidence.q = problem.q;
    evidence.k = problem.k;
    if (problem.past_v.empty()) evidence.v = problem.v;
  }
  const std::pair<const char*, Tensor<double, 4>*> roles[] = {
      {"q", &evidence.q},           {"k", &evidence.k},           {"scores", &evidence.scores},
      {"scaled", &evidence.scaled}, {"capped", &evidence.capped}, {"masked", &evidence.masked},
      {"attn", &evidence.attn},     {"heads", &evidence.heads}};
  for (const auto& [id, got] : the_case.got) {
    if (!got.fits) continue;
    evidence.stages.emplace_back(id, got.value);
    for (const auto& [role, target] : roles) {
      if (id == role) *target = got.value;
    }
    if (id == "v" && problem.past_v.empty()) evidence.v = got.value;
  }
  const MemoryEstimate estimate =
      stage_memory(the_case.stages, the_case.problem.sizes, sizeof(float));
  evidence.stage_bytes = estimate.bytes;
  evidence.largest_stage = estimate.largest;
  evidence.largest_bytes = estimate.largest_bytes;
  return evidence;
}

/// Every fault is tried with tensors of the same sizes: memory that is kept need not be mapped and
/// zeroed page by page anew.
void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

int run_diagnose(const DiagnoseOptions& options) {
  keep_freed_memory();
  const TextStyle style = text_style(options.console);
  const double tolerance = options.tolerance.empty() ? 0 : parse_tolerance(options.tolerance);
  const Request request = read_request(options.common);
  if (request.settings.dropout) {
    throw Error(Complaint{.what = "dropout cannot be compared",
                          .where = "--dropout",
                          .expected = "none: two programs drop other weights",
                          .got = number_text(*request.settings.dropout),
                          .hint = "switch it off on both sides (eval mode, p = 0)"});
  }
  for (const std::string& text : request.notes) note(options.console, text);
  const Sizes sizes = find_sizes(request.inputs, request.settings);
  const std::vector<StageShape> present = stage_shapes(request.inputs, request.settings, sizes);
  require_memory(stage_memory(present, sizes, (2 + 2 * request.threads) * sizeof(double)), request,
                 sizes);
  // Faults are tried side by side, each with products of its own.
  const std::size_t threads = use_threads(request, sizes);
  set_blas_threads(1);

  // Half precision: the inputs and the fill are what that type makes of them. From there each step
  // is exact, and your stages are judged by the rounding of the type, in whatever file they lie.
  std::vector<std::string> rounding;
  const Arithmetic arithmetic = request.settings.arithmetic;
  const Inputs inputs = rounded(request.inputs, request.settings, rounding);
  Settings settings = request.settings;
  settings.fill = rounded(settings.fill, arithmetic, rounding);
  settings.arithmetic = Arithmetic::native;
  for (const std::string& text : rounding) note(options.console, text);

  Case the_case = make_case(inputs, settings, read_got(options, present));
  if (arithmetic != Arithmetic::native)
    the_case.eps = std::max(the_case.eps, epsilon(dtype_of(arithmetic, DType::float32)));
  if (tolerance > 0) the_case.eps = tolerance;
  for (const std::string& text : the_case.problem.notes) note(options.console, text);
  DiagnoseReport report;
  {
    Progress progress(options.console, "trying faults");
    Diagnosis diagnosis = diagnose(
        the_case, [&](double share) { progress(share); }, threads);
    report = diagnose_report(std::move(diagnosis), run_checks(user_evidence(the_case, request)));
  }
  print(options.console.json ? diagnose_json(report) : diagnose_text(report, style));
  return report.status == Status::fail ? negative : done;
}

}  // namespace

Action add_diagnose(CLI::App& app) {
  auto options = std::make_shared<DiagnoseOptions>();
  add_common_options(app, options->common);
  app.add_option("--got", options->got,
                 "Your stages: a folder with out.npy, attn.npy ..., or an .npz of them")
      ->type_name("DIR|FILE.npz")
      ->group("Your tensors");
  for (const StageInfo& stage : stage_list()) {
    const std::string id(stage.id);
    if (id == "x" || id == "context" || id == "dropped") continue;
    app.add_option_function<std::string>(
           "--got-" + id,
           [options, id](const std::string& file) { options->got_stages[id] = file; }, "Your " + id)
        ->type_name("FILE")
        ->group("Your tensors");
  }
  app.add_option("--tol", options->tolerance,
                 "Relative rounding that your tensors may have, in place of that of their type")
      ->type_name("EPS")
      ->group("Your tensors");
  add_console_options(app, options->console);
  return [options] { return run_diagnose(*options); };
}

}  // namespace qkv::cli
