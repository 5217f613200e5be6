// qkv plan: bytes and multiply-adds of a computation, from sizes or headers alone.
#include <CLI/CLI.hpp>
#include <initializer_list>
#include <memory>

#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/describe.hpp"
#include "cli/memory.hpp"
#include "cli/plan_sizes.hpp"
#include "cli/run.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/base/text.hpp"
#include "qkv/kernels/kernel.hpp"
#include "qkv/report/plan_report.hpp"

namespace qkv::cli {

namespace {

struct PlanOptions {
  CommonOptions common;
  ConsoleOptions console;
  PlanSizes sizes;
  std::string budget;
};

bool has_input(const Inputs& in) {
  return in.x || in.context || in.q || in.k || in.v || in.past_k || in.past_v;
}

double product(std::initializer_list<std::size_t> sizes) {
  double product = 1;
  for (const std::size_t size : sizes) product *= static_cast<double>(size);
  return product;
}

/// x·Wq, and the keys and values of the new positions, and concat·Wo.
double projections(const Sizes& s) {
  double count = s.has_wo ? product({s.B, s.L, s.H, s.Dv, s.E_out}) : 0;
  if (!s.projects) return count;
  const std::size_t from = s.has_context ? s.E_context : s.E;
  return count + product({s.B, s.L, s.E, s.H, s.D}) +
         product({s.B, s.new_keys(), from, s.G, s.D + s.Dv});
}

/// More than any machine holds, and still no product of sizes that overflows.
void require_indices(const std::vector<StageShape>& stages) {
  constexpr double most = 0x1p50;
  for (const StageShape& stage : stages) {
    double count = 1;
    for (const std::size_t size : stage.shape) count *= static_cast<double>(size);
    if (count <= most) continue;
    throw Error(Complaint{.what = "tensor too large",
                          .where = stage.id,
                          .expected = "at most 2^50 elements",
                          .got = shape_text(stage.shape)});
  }
}

/// The stages with their bytes, which do not depend on how they are computed.
std::vector<PlanStage> plan_stages(const std::vector<StageShape>& stages, const Sizes& sizes,
                                   const Sizes& doubled, std::size_t element_size) {
  std::vector<PlanStage> rows;
  for (const StageShape& stage : stages) {
    rows.push_back({.id = stage.id,
                    .is = stage.is,
                    .shape = stage.shape,
                    .dims = stage.dims,
                    .bytes = {stage_bytes(stage, sizes, element_size),
                              stage_bytes(stage, doubled, element_size)},
                    .in_one_pass = !grows_as_square(stage)});
  }
  return rows;
}

PlanFit fit(const BytesAt& bytes_at, const Sizes& sizes, double budget) {
  return {.length = largest_length(bytes_at, sizes, budget),
          .batch = largest_batch(bytes_at, sizes, budget)};
}

template <class T>
PlanReport plan(const PlanOptions& options, const Request& request, const Sizes& sizes) {
  // Of the tensors as an implementation in that type holds them.
  const std::size_t element = element_size(request.compute);
  const std::vector<StageShape> stages =
      held_tensors(stage_shapes(request.inputs, request.settings, sizes), sizes);
  require_indices(stages);
  const Sizes doubled = with_length(sizes, 2 * sizes.S);
  const auto growth = [&](const auto& at) { return Growth{at(sizes), at(doubled)}; };

  PlanReport report{.headline = headline(request, sizes),
                    .config = config_entries(request, sizes),
                    .stages = plan_stages(stages, sizes, doubled, element),
                    .both_lengths = lengths_go_together(sizes),
                    .batch = sizes.B,
                    .length = sizes.S};
  report.projections = growth(projections);
  report.scores = growth([](const Sizes& s) { return product({s.B, s.H, s.L, s.S, s.D}); });
  report.weighted_sum = growth([](const Sizes& s) { return product({s.B, s.H, s.L, s.S, s.Dv}); });

  const KernelRun how{.threads = request.threads, .isa = choose_isa("auto")};
  const KernelAt kernel_at = [&](const Sizes& at) -> const Kernel& {
    return choose_kernel<T>("auto", at, request.settings);
  };
  report.engine = engine_name(kernel_at(sizes), how.isa);
  report.working = growth(
      [&](const Sizes& at) { return kernel_at(at).workspace(at, request.settings, element, how); });
  const BytesAt step_by_step = stage_memory(stages, sizes, element).bytes_at;
  const BytesAt one_pass =
      one_pass_memory(stages, sizes, request.settings, element, kernel_at, how).bytes_at;
  report.step_by_step = growth(step_by_step);
  report.one_pass = growth(one_pass);

  report.budget =
      options.budget.empty() ? request.memory_limit : parse_bytes(options.budget, "--budget");
  report.budget_from = !options.budget.empty()      ? "--budget"
                       : request.memory_limit_given ? "--memory-limit"
                                                    : "80 % of free memory";
  report.step_by_step_fits = fit(step_by_step, sizes, report.budget);
  report.one_pass_fits = fit(one_pass, sizes, report.budget);
  return report;
}

int run_plan(const PlanOptions& options) {
  const TextStyle style = text_style(options.console);
  if (!options.budget.empty()) parse_bytes(options.budget, "--budget");
  Request request = read_request(options.common);
  for (const std::string& text : request.notes) note(options.console, text);
  if (options.sizes.any()) {
    add_sized_inputs(options.sizes, options.common, request);
  } else if (!has_input(request.inputs)) {
    throw Error(Complaint{.what = "neither sizes nor tensors",
                          .expected = "--seq with --d-model or --d-k, or X, a bundle folder, or "
                                      "--q, --k and --v",
                          .hint = "qkv plan --help lists the sizes"});
  }
  const Sizes sizes = find_sizes(request.inputs, request.settings);
  const PlanReport report = request.compute == Compute::f64 ? plan<double>(options, request, sizes)
                                                            : plan<float>(options, request, sizes);
  print(options.console.json ? plan_json(report) : plan_text(report, style));
  return done;
}

}  // namespace

Action add_plan(CLI::App& app) {
  auto options = std::make_shared<PlanOptions>();
  add_common_options(app, options->common);
  const std::pair<const char*, std::pair<std::string*, const char*>> sizes[] = {
      {"--batch", {&options->sizes.batch, "Batch rows, B (1)"}},
      {"--seq", {&options->sizes.seq, "Queries, L"}},
      {"--kv-seq", {&options->sizes.kv_seq, "Keys, S (L)"}},
      {"--d-model", {&options->sizes.d_model, "Width of the model, E: x is projected"}},
      {"--d-k", {&options->sizes.d_k, "Width of a head of q and k, D (E/H)"}},
      {"--d-v", {&options->sizes.d_v, "Width of a head of v, Dv (D)"}}};
  for (const auto& [flag, size] : sizes)
    app.add_option(flag, *size.first, size.second)->type_name("N")->group("Sizes");
  app.add_option("--budget", options->budget,
                 "Memory that the largest length and batch must fit (80 % of what is free)")
      ->type_name("SIZE")
      ->group("Resources");
  add_console_options(app, options->console);
  return [options] { return run_plan(*options); };
}

}  // namespace qkv::cli
