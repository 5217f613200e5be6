// qkv block: encoder blocks, step by step: attention, residual, norm, feed-forward.
#include "qkv/block/block.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/block_request.hpp"
#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/describe.hpp"
#include "cli/evidence.hpp"
#include "cli/memory.hpp"
#include "cli/run.hpp"
#include "cli/stage_output.hpp"
#include "qkv/base/text.hpp"
#include "qkv/block/stage_list.hpp"
#include "qkv/checks/block_check.hpp"
#include "qkv/io/write.hpp"

namespace qkv::cli {

namespace {

struct BlockOptions {
  CommonOptions common;
  ConsoleOptions console;
  std::string print;
  std::string precision, threshold;
  std::string dump, output;
  bool shapes = false;
};

/// "0" of "0."
std::string without_dot(const std::string& prefix) { return prefix.substr(0, prefix.size() - 1); }

/// A layer with what its shapes alone tell.
struct Planned {
  BlockLayer layer;
  BlockSizes sizes;
  std::vector<StageShape> stages;
};

/// Complaints about a layer of several say which.
void add_complaints(const Error& error, const BlockLayer& layer, Complaints& complaints) {
  for (Complaint complaint : error.complaints()) {
    if (!layer.prefix.empty())
      complaint.where = "layer " + without_dot(layer.prefix) +
                        (complaint.where.empty() ? "" : ", " + complaint.where);
    complaints.add(std::move(complaint));
  }
}

Planned plan_layer(const BlockRequest& block, BlockLayer layer) {
  const BlockSizes sizes =
      find_block_sizes(layer.inputs, layer.block, layer.settings, block.settings);
  std::vector<StageShape> stages =
      block_stage_shapes(layer.inputs, layer.block, layer.settings, block.settings, sizes);
  for (StageShape& stage : stages) stage.id = layer.prefix + stage.id;
  return {std::move(layer), sizes, std::move(stages)};
}

/// The layers in order, each but the first on the block_out before it, which has the shape of x.
std::vector<Planned> plan(const BlockRequest& block) {
  std::vector<Planned> planned;
  Complaints complaints;
  const NamedArray* x = block.request.inputs.x ? &*block.request.inputs.x : nullptr;
  for (std::size_t n = 0; n < block.layers.size(); ++n) {
    BlockLayer layer = block.layers[n];
    if (n > 0 && x != nullptr) {
      layer.inputs.x = NamedArray{.array = {.dtype = x->array.dtype, .shape = x->array.shape},
                                  .where = block.layers[n - 1].prefix + "block_out"};
    }
    try {
      planned.push_back(plan_layer(block, layer));
    } catch (const Error& error) {
      add_complaints(error, layer, complaints);
    }
  }
  complaints.throw_if_any();
  return planned;
}

const char* text_of(NormOrder order) { return order == NormOrder::post ? "post" : "pre"; }
const char* text_of(NormKind kind) { return kind == NormKind::layer ? "layer" : "rms"; }
const char* text_of(Activation activation) {
  return activation == Activation::relu        ? "relu"
         : activation == Activation::gelu      ? "gelu"
         : activation == Activation::gelu_tanh ? "gelu-tanh"
                                               : "silu";
}

/// "encoder block   post-norm, layer (eps 1e-05)   feed-forward F=16 relu", then the attention's.
TraceReport report_of(const BlockRequest& block, const std::vector<Planned>& planned) {
  const BlockSettings& s = block.settings;
  const Planned& first = planned.front();
  const bool gated = first.layer.block.ff_w3.has_value();
  Request request = block.request;
  request.inputs = first.layer.inputs;
  TraceReport report;
  report.headline =
      (planned.size() == 1 ? "encoder block" : fmt::format("{} encoder blocks", planned.size())) +
      fmt::format("   {}-norm, {} (eps {})   feed-forward F={} {}{}\n", text_of(s.order),
                  text_of(s.kind), number_text(s.eps), first.sizes.F, text_of(s.activation),
                  gated ? ", gated" : "") +
      headline(request, first.sizes.attention);
  report.config = config_entries(request, first.sizes.attention);
  for (ConfigEntry& entry : report.config)
    if (entry.key == "kind") entry.text = "encoder-block";
  using Kind = ConfigEntry::Kind;
  const ConfigEntry of_block[] = {
      {.kind = Kind::number, .key = "layers", .number = static_cast<double>(planned.size())},
      {.kind = Kind::text, .key = "norm", .text = text_of(s.order)},
      {.kind = Kind::text, .key = "norm-kind", .text = text_of(s.kind)},
      {.kind = Kind::number, .key = "eps", .number = s.eps},
      {.kind = Kind::text, .key = "activation", .text = text_of(s.activation)},
      {.kind = Kind::flag, .key = "gated", .flag = gated},
      {.kind = Kind::number, .key = "F", .number = static_cast<double>(first.sizes.F)}};
  report.config.insert(report.config.end(), std::begin(of_block), std::end(of_block));
  return report;
}

StageRow shape_row(const StageShape& stage) {
  StageRow row;
  row.id = stage.id;
  row.is = stage.is;
  row.shape = stage.shape;
  row.dims = stage.dims;
  return row;
}

template <class T>
using Held = std::vector<std::pair<std::string, Tensor<T, 4>>>;

/// Stages that only a block has.
bool is_of_block(const std::string& id) {
  return std::ranges::any_of(block_stage_list(),
                             [&](const StageInfo& info) { return info.id == id; });
}

/// The checks of attention on the stages between norm and residual, and those of the block before
/// what follows the inputs. `memory` is that of all layers together.
template <class T>
std::vector<CheckResult> checks_of(const BlockResult<T>& result, const BlockProblem<T>& problem,
                                   const Request& request, const BlockInputs& inputs,
                                   const Held<T>& held, const MemoryEstimate& memory) {
  Held<T> of_attention, of_block;
  for (const auto& stage : held) {
    if (!is_of_block(stage.first)) of_attention.push_back(stage);
    if (is_of_block(stage.first) || stage.first == "x" || stage.first == "out")
      of_block.push_back(stage);
  }
  Evidence<T> evidence = trace_evidence(result.attention, request, of_attention, result.attended);
  evidence.stage_bytes = memory.bytes;
  evidence.largest_stage = memory.largest;
  evidence.largest_bytes = memory.largest_bytes;
  std::vector<CheckResult> results = run_checks(evidence);
  const auto own = run_block_checks(BlockEvidence<T>{.settings = problem.settings,
                                                     .has_batch = evidence.sizes.has_batch,
                                                     .eps = evidence.eps,
                                                     .inputs = &inputs,
                                                     .stages = of_block,
                                                     .norm1_in = result.norm1_in,
                                                     .norm1_rows = result.norm1_rows,
                                                     .norm2_in = result.norm2_in,
                                                     .norm2_rows = result.norm2_rows});
  const auto after_inputs =
      std::ranges::find_if(results, [](const CheckResult& check) { return check.step > 2; });
  results.insert(after_inputs, own.begin(), own.end());
  return results;
}

/// "0.attn"; the name of a file stays as it is.
std::string prefixed(const std::string& prefix, const std::string& stage) {
  const bool file = stage.find('/') != std::string::npos || stage.find(".npy") != std::string::npos;
  return file ? stage : prefix + stage;
}

/// Computes the layers one after another; returns the last block_out.
template <class T>
Array compute(const BlockOptions& options, const BlockRequest& block, std::vector<Planned>& planned,
              const MemoryEstimate& memory, TraceReport& report) {
  Array out;
  for (Planned& step : planned) {
    BlockLayer& layer = step.layer;
    if (&step != &planned.front()) layer.inputs.x->array = out;
    const BlockProblem<T> problem =
        make_block_problem<T>(layer.inputs, layer.block, layer.settings, block.settings);
    for (const std::string& text : problem.notes) {
      note(options.console,
           layer.prefix.empty() ? text : "layer " + without_dot(layer.prefix) + ": " + text);
    }
    const Arithmetic arithmetic = problem.attention.settings.arithmetic;
    Held<T> held;
    const BlockResult<T> result =
        qkv::block<T>(problem, [&](std::string_view id, Tensor<T, 4>& value) {
          StageRow row = shape_row(step.stages.at(held.size()));
          held.emplace_back(std::string(id), value);
          row.dtype = dtype_of(arithmetic, dtype_of<T>());
          row.stats = stats_of(std::span<const T>(value.elements()));
          row.bytes = static_cast<double>(value.size() * size_of(row.dtype));
          row.values = reshaped(as_array(value, arithmetic), row.shape);
          report.stages.push_back(std::move(row));
        });
    Request request = block.request;
    request.inputs = layer.inputs;
    for (CheckResult& check : checks_of(result, problem, request, layer.block, held, memory)) {
      // All layers' stages are held at once: their memory is one claim, made once.
      const bool of_all = check.step == 6;
      if (of_all && &step != &planned.back()) continue;
      if (!of_all) check.stage = prefixed(layer.prefix, check.stage);
      report.checks.push_back(std::move(check));
    }
    out = report.stages.back().values;
  }
  return out;
}

int run_block(const BlockOptions& options) {
  text_style(options.console);  // complains of a bad --color before any work
  const PrintOptions print_as = print_options(options.precision, options.threshold);
  const BlockRequest block = read_block_request(options.common);
  for (const std::string& text : block.request.notes) note(options.console, text);
  std::vector<Planned> planned = plan(block);

  std::vector<StageShape> stages;
  std::vector<std::string> names, known;
  for (const Planned& step : planned)
    stages.insert(stages.end(), step.stages.begin(), step.stages.end());
  for (const StageShape& stage : stages) names.push_back(stage.id);
  for (const StageInfo& stage : stage_list()) known.emplace_back(stage.id);
  for (const StageInfo& stage : block_stage_list()) known.emplace_back(stage.id);
  const std::set<std::string> wanted = stages_to_print(options.print, names, known);
  TraceReport report = report_of(block, planned);
  if (options.shapes) {
    for (const StageShape& stage : stages) report.stages.push_back(shape_row(stage));
    print(options.console.json ? shapes_json(report)
                               : shapes_text(report, text_style(options.console)));
    return done;
  }

  const Sizes& sizes = planned.front().sizes.attention;
  const Compute computed = block.request.compute;
  require_memory(stage_memory(stages, sizes, held_size(computed)), block.request, sizes);
  const MemoryEstimate memory = stage_memory(stages, sizes, element_size(computed));
  const double feed_forward = 4.0 * static_cast<double>(sizes.B * sizes.L) *
                              static_cast<double>(sizes.E) *
                              static_cast<double>(planned.front().sizes.F);
  use_threads(block.request, sizes, feed_forward);
  const Array out = computed == Compute::f64
                        ? compute<double>(options, block, planned, memory, report)
                        : compute<float>(options, block, planned, memory, report);

  if (!options.dump.empty()) dump_stages(options.dump, report, block.request.input_files);
  if (!options.output.empty()) write_npy(options.output, out);
  if (options.output != "-") {
    print(options.console.json ? trace_json(report)
                               : trace_text(report, text_style(options.console)) +
                                     stage_values(report, wanted, print_as));
  }
  return worst_status(report.checks) == Status::fail ? negative : done;
}

}  // namespace

Action add_block(CLI::App& app) {
  auto options = std::make_shared<BlockOptions>();
  add_common_options(app, options->common);
  add_block_options(app, options->common);
  app.add_option("-o,--output", options->output, "Write block_out as .npy; - is standard output")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--print", options->print, "Print the values of these stages, norm1,attn or all")
      ->type_name("STAGES")
      ->group("Output");
  app.add_option("--precision", options->precision, "Digits after the point (8)")
      ->type_name("N")
      ->group("Output");
  app.add_option("--threshold", options->threshold, "Summarise tensors of more elements (1000)")
      ->type_name("N")
      ->group("Output");
  app.add_option("--dump", options->dump,
                 "Write each stage as DIR/STAGE.npy (of several layers, DIR/0/STAGE.npy ...), and "
                 "DIR/trace.json")
      ->type_name("DIR")
      ->group("Output");
  app.add_flag("--shapes", options->shapes, "Read headers only: print the chain of shapes")
      ->group("Output");
  add_console_options(app, options->console);
  return [options] { return run_block(*options); };
}

}  // namespace qkv::cli
