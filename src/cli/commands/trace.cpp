// qkv trace: step by step, every stage held, shown and checked.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <set>

#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/describe.hpp"
#include "cli/evidence.hpp"
#include "cli/memory.hpp"
#include "cli/outputs.hpp"
#include "cli/run.hpp"
#include "cli/stage_output.hpp"
#include "cli/trace_progress.hpp"
#include "qkv/attention/pipeline.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/base/parallel.hpp"

namespace qkv::cli {

namespace {

struct TraceOptions {
  CommonOptions common;
  ConsoleOptions console;
  std::string print;
  std::string precision, threshold;
  std::string dump;
  std::string present_k, present_v;
  bool shapes = false;
};

/// The stages that there are, present in this configuration or not.
std::vector<std::string> known_stages() {
  std::vector<std::string> names;
  for (const StageInfo& stage : stage_list()) names.emplace_back(stage.id);
  return names;
}

std::vector<std::string> names_of(const std::vector<StageShape>& stages) {
  std::vector<std::string> names;
  for (const StageShape& stage : stages) names.push_back(stage.id);
  return names;
}

int show_shapes(const TraceOptions& options, const Request& request, const Sizes& sizes,
                const std::vector<StageShape>& stages) {
  TraceReport report{headline(request, sizes), config_entries(request, sizes), {}, {}};
  for (const StageShape& stage : stages) {
    StageRow row;
    row.id = stage.id;
    row.is = stage.is;
    row.shape = stage.shape;
    row.dims = stage.dims;
    report.stages.push_back(row);
  }
  print(options.console.json ? shapes_json(report)
                             : shapes_text(report, text_style(options.console)));
  return done;
}

template <class T>
int trace(const TraceOptions& options, const Request& request, const Sizes& sizes,
          const std::vector<StageShape>& shapes, const std::set<std::string>& wanted,
          const PrintOptions& print_as, std::size_t threads) {
  Problem<T> problem = make_problem<T>(request.inputs, request.settings);
  problem.threads = threads;
  for (const std::string& text : problem.notes) note(options.console, text);
  const Arithmetic arithmetic = problem.settings.arithmetic;

  TraceReport report{headline(request, sizes), config_entries(request, sizes), {}, {}};
  std::vector<std::pair<std::string, Tensor<T, 4>>> held;
  std::optional<TraceProgress> progress(std::in_place, options.console, shapes, sizes, sizeof(T),
                                        !options.dump.empty());
  const Attended<T> attended = attend<T>(problem, [&](std::string_view id, Tensor<T, 4>& value) {
    const StageShape& shape = shapes.at(held.size());
    held.emplace_back(std::string(id), value);
    StageRow row{.id = shape.id,
                 .is = shape.is,
                 .shape = shape.shape,
                 .dims = shape.dims,
                 .dtype = dtype_of(arithmetic, dtype_of<T>())};
    row.bytes = static_cast<double>(value.size() * size_of(row.dtype));
    row.values = reshaped(as_array(value, arithmetic), shape.shape);
    report.stages.push_back(std::move(row));
    progress->next();
  });
  parallel(threads, held.size(), [&](std::size_t n, std::size_t) {
    report.stages[n].stats = stats_of(std::span<const T>(held[n].second.elements()));
  });
  const Evidence<T> evidence = trace_evidence(problem, request, held, attended);
  report.checks = run_checks(evidence, threads);
  report.heads = head_statistics(evidence, threads);

  progress->next();
  if (!options.dump.empty()) dump_stages(options.dump, report, request.input_files);
  if (!options.present_k.empty())
    write_cache(options.present_k, as_array(attended.present_k, arithmetic), sizes);
  if (!options.present_v.empty())
    write_cache(options.present_v, as_array(attended.present_v, arithmetic), sizes);

  progress.reset();  // wiped before the result
  if (options.console.json) {
    print(trace_json(report));
  } else {
    print(trace_text(report, text_style(options.console)) + stage_values(report, wanted, print_as));
  }
  return worst_status(report.checks) == Status::fail ? negative : done;
}

int run_trace(const TraceOptions& options) {
  text_style(options.console);  // complains of a bad --color before any work
  const PrintOptions print_as = print_options(options.precision, options.threshold);
  const Request request = read_request(options.common);
  for (const std::string& text : request.notes) note(options.console, text);
  const Sizes sizes = find_sizes(request.inputs, request.settings);
  const std::vector<StageShape> shapes = stage_shapes(request.inputs, request.settings, sizes);
  const std::set<std::string> wanted =
      stages_to_print(options.print, names_of(shapes), known_stages());
  if (options.shapes) return show_shapes(options, request, sizes, shapes);

  require_memory(stage_memory(held_tensors(shapes, sizes), sizes, held_size(request.compute)),
                 request, sizes);
  const std::size_t threads = use_threads(request, sizes);
  if (request.compute == Compute::f64)
    return trace<double>(options, request, sizes, shapes, wanted, print_as, threads);
  return trace<float>(options, request, sizes, shapes, wanted, print_as, threads);
}

}  // namespace

Action add_trace(CLI::App& app) {
  auto options = std::make_shared<TraceOptions>();
  add_common_options(app, options->common);
  app.add_option("--print", options->print, "Print the values of these stages, q,attn or all")
      ->type_name("STAGES")
      ->group("Output");
  app.add_option("--precision", options->precision, "Digits after the point (8)")
      ->type_name("N")
      ->group("Output");
  app.add_option("--threshold", options->threshold, "Summarise tensors of more elements (1000)")
      ->type_name("N")
      ->group("Output");
  app.add_option("--dump", options->dump, "Write each stage as DIR/STAGE.npy, and DIR/trace.json")
      ->type_name("DIR")
      ->group("Output");
  app.add_option("--present-k", options->present_k, "Write the grown cache of keys, (B,G,S,D)")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--present-v", options->present_v, "Write the grown cache of values")
      ->type_name("FILE")
      ->group("Output");
  app.add_flag("--shapes", options->shapes, "Read headers only: print the chain of shapes")
      ->group("Output");
  add_console_options(app, options->console);
  return [options] { return run_trace(*options); };
}

}  // namespace qkv::cli
