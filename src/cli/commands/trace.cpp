// qkv trace: step by step, every stage held, shown and checked.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/describe.hpp"
#include "cli/evidence.hpp"
#include "cli/memory.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "cli/run.hpp"
#include "cli/trace_progress.hpp"
#include "qkv/attention/pipeline.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/write.hpp"
#include "qkv/tensor/matmul.hpp"

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

/// The stages that --print names, checked against those that this configuration has.
std::set<std::string> stages_to_print(const std::string& words,
                                      const std::vector<StageShape>& present) {
  std::vector<std::string> names;
  for (const StageShape& stage : present) names.push_back(stage.id);
  if (words == "all") return {names.begin(), names.end()};
  std::set<std::string> wanted;
  for (std::size_t start = 0; !words.empty() && start <= words.size();) {
    const std::size_t comma = std::min(words.find(',', start), words.size());
    const std::string word = words.substr(start, comma - start);
    start = comma + 1;
    if (std::ranges::find(names, word) == names.end()) {
      const std::string near = nearest(word, names);
      const bool exists =
          std::ranges::any_of(stage_list(), [&](const StageInfo& info) { return info.id == word; });
      throw Error(
          Complaint{.what = exists ? "this configuration has no such stage" : "unknown stage",
                    .where = "--print",
                    .expected = "all, or some of " + listed(names),
                    .got = escaped(word),
                    .hint = near.empty() || exists ? "" : "did you mean " + near + "?"});
    }
    wanted.insert(word);
  }
  return wanted;
}

PrintOptions print_options(const TraceOptions& options) {
  PrintOptions print;
  if (!options.precision.empty())
    print.precision =
        static_cast<int>(std::min(parse_integer(options.precision, "--precision", 0), 17LL));
  if (!options.threshold.empty())
    print.threshold = static_cast<std::size_t>(parse_integer(options.threshold, "--threshold", 0));
  return print;
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

/// Writes every stage, then the report beside them.
void dump(const TraceOptions& options, const Request& request, const TraceReport& report) {
  const std::filesystem::path folder = options.dump;
  make_folder(options.dump, "--dump");
  for (const StageRow& stage : report.stages)
    require_no_input((folder / (stage.id + ".npy")).string(), request.input_files, "--dump");
  for (const StageRow& stage : report.stages)
    write_npy((folder / (stage.id + ".npy")).string(), stage.values);
  OutputFile file((folder / "trace.json").string());
  file.write(trace_json(report));
  file.commit();
}

template <class T>
int trace(const TraceOptions& options, const Request& request, const Sizes& sizes,
          const std::vector<StageShape>& shapes, const std::set<std::string>& wanted,
          const PrintOptions& print_as) {
  const Problem<T> problem = make_problem<T>(request.inputs, request.settings);
  for (const std::string& text : problem.notes) note(options.console, text);

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
                 .dtype = dtype_of<T>()};
    row.stats = stats_of(std::span<const T>(value.elements()));
    row.bytes = static_cast<double>(value.size() * sizeof(T));
    row.values = reshaped(as_array(value), shape.shape);
    report.stages.push_back(std::move(row));
    progress->next();
  });
  report.checks = run_checks(trace_evidence(problem, request, held, attended));

  progress->next();
  if (!options.dump.empty()) dump(options, request, report);
  if (!options.present_k.empty()) write_cache(options.present_k, attended.present_k, sizes);
  if (!options.present_v.empty()) write_cache(options.present_v, attended.present_v, sizes);

  progress.reset();  // wiped before the result
  if (options.console.json) {
    print(trace_json(report));
  } else {
    std::string text = trace_text(report, text_style(options.console));
    for (const StageRow& stage : report.stages) {
      if (wanted.contains(stage.id))
        text += "\n" + stage.id + " " + shape_text(stage.shape) + "\n" +
                numpy_text(stage.values, print_as) + "\n";
    }
    print(text);
  }
  return worst_status(report.checks) == Status::fail ? negative : done;
}

int run_trace(const TraceOptions& options) {
  text_style(options.console);  // complains of a bad --color before any work
  const PrintOptions print_as = print_options(options);
  const Request request = read_request(options.common);
  for (const std::string& text : request.notes) note(options.console, text);
  const Sizes sizes = find_sizes(request.inputs, request.settings);
  const std::vector<StageShape> shapes = stage_shapes(request.inputs, request.settings, sizes);
  const std::set<std::string> wanted = stages_to_print(options.print, shapes);
  if (options.shapes) return show_shapes(options, request, sizes, shapes);

  const std::size_t element = request.compute == Compute::f32 ? sizeof(float) : sizeof(double);
  require_memory(stage_memory(held_tensors(shapes, sizes), sizes, element), request, sizes);
  use_threads(request, sizes);
  if (request.compute == Compute::f32)
    return trace<float>(options, request, sizes, shapes, wanted, print_as);
  return trace<double>(options, request, sizes, shapes, wanted, print_as);
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
