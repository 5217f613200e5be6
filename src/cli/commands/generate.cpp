// qkv generate: a whole language model: the prompt, and the most probable tokens after it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/describe.hpp"
#include "cli/memory.hpp"
#include "cli/model_bundle.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "cli/prompt.hpp"
#include "cli/run.hpp"
#include "cli/stage_output.hpp"
#include "cli/text_input.hpp"
#include "qkv/base/text.hpp"
#include "qkv/block/stage_list.hpp"
#include "qkv/report/generate_report.hpp"

namespace qkv::cli {

namespace {

struct GenerateOptions {
  std::string folder, steps, logits, dump;
  CommonOptions words;
  ConsoleOptions console;
};

constexpr std::size_t default_steps = 32;

/// The stages of the prompt by their shapes, layer by layer, then those of the model itself.
struct Planned {
  std::vector<std::vector<StageShape>> layers = {};
  StageShape final_norm = {}, logits = {};
  Sizes sizes = {};
  std::size_t F = 0;
};

Planned plan(const ModelBundle& model, std::size_t L) {
  const LanguageModelInputs& inputs = model.inputs;
  const std::size_t V = inputs.embedding.array.shape[0], E = inputs.embedding.array.shape[1];
  Planned planned;
  for (std::size_t n = 0; n < inputs.layers.size(); ++n) {
    ModelLayer layer = inputs.layers[n];
    layer.settings.causal = true;
    layer.inputs.x = NamedArray{.array = {.shape = {L, E}}, .where = "x of the tokens"};
    const BlockSizes sizes =
        find_block_sizes(layer.inputs, layer.block, layer.settings, inputs.settings);
    planned.layers.push_back(
        block_stage_shapes(layer.inputs, layer.block, layer.settings, inputs.settings, sizes));
    for (StageShape& stage : planned.layers.back()) stage.id = std::to_string(n) + "." + stage.id;
    if (n == 0) planned.sizes = sizes.attention;
    planned.F = std::max(planned.F, sizes.F);
  }
  const bool norm = inputs.final_norm_w || inputs.final_norm_b;
  planned.final_norm = {norm ? "final_norm" : "", "norm of the last block_out", {L, E}, {"L", "E"}};
  planned.logits = {"logits", "final_norm·head", {L, V}, {"L", "V"}};
  return planned;
}

/// Bytes of what is held at once: all stages where they are dumped, else those of a layer.
template <class T>
MemoryEstimate memory_of(const Planned& planned, bool all) {
  std::vector<StageShape> held = {planned.logits};
  for (const auto& layer : planned.layers) {
    if (all || &layer == &planned.layers.front())
      held.insert(held.end(), layer.begin(), layer.end());
  }
  return stage_memory(held, planned.sizes, sizeof(T));
}

template <class T>
StageRow row_of(const StageShape& stage, const Array& values, std::span<const T> elements) {
  StageRow row;
  row.id = stage.id;
  row.is = stage.is;
  row.shape = stage.shape;
  row.dims = stage.dims;
  row.dtype = dtype_of<T>();
  row.stats = stats_of(elements);
  row.bytes = static_cast<double>(elements.size() * sizeof(T));
  row.values = reshaped(values, stage.shape);
  return row;
}

/// The folder of --dump: the stages of the prompt as block writes those of a stack, final_norm and
/// logits, and the tokens for --labels.
void write_dump(const GenerateOptions& options, const ModelBundle& model, const Planned& planned,
                TraceReport& report, const std::vector<std::string>& tokens) {
  Request request = model.request;
  request.settings.causal = true;
  request.inputs = model.inputs.layers.front().inputs;
  request.inputs.x = NamedArray{.array = {.shape = {planned.sizes.L, planned.sizes.E}}};
  report.config = config_entries(request, planned.sizes);
  dump_stages(options.dump, report, request.input_files);
  if (tokens.empty()) return;
  const std::string path = (std::filesystem::path(options.dump) / "tokens.txt").string();
  require_no_input(path, request.input_files, "--dump");
  OutputFile file(path);
  for (const std::string& token : tokens) file.write(token + "\n");
  file.commit();
}

/// The names of ids; those that the vocabulary has no token for are called by their numbers.
std::vector<std::string> names_of(const ModelBundle& model, const std::vector<std::size_t>& ids) {
  std::vector<std::string> names;
  if (!model.vocabulary) return names;
  for (const std::size_t id : ids) names.push_back(model.vocabulary->tokens()[id]);
  return names;
}

/// throws  Error: a table of learned positions with fewer rows than tokens that are looked at
void require_places(const ModelBundle& model, std::size_t prompt, std::size_t longest) {
  if (!model.position || model.position->array.shape.size() != 2) return;
  const Shape& shape = model.position->array.shape;
  if (shape[0] >= longest) return;
  throw Error(Complaint{
      .what = "more tokens than positions",
      .where = model.position->where + ", axis 0, N",
      .expected = std::to_string(longest) + " or more, for a prompt of " + std::to_string(prompt) +
                  (longest > prompt ? " and --steps " + std::to_string(longest - prompt + 1) : ""),
      .got = std::to_string(shape[0]) + " in " + shape_text(shape),
      .hint = shape[0] >= prompt ? "--steps " + std::to_string(shape[0] - prompt + 1) + " has room"
                                 : ""});
}

/// Keys, values and positions are kept for every token of the text.
///
/// throws  Error naming --steps where they do not fit into memory
void require_room(const ModelBundle& model, const Sizes& sizes, std::size_t longest,
                  std::size_t element_size) {
  const double of_token = static_cast<double>(model.inputs.layers.size() * sizes.G *
                                              (sizes.D + sizes.Dv) * element_size) +
                          static_cast<double>(sizes.E * sizeof(double));
  const double bytes = of_token * static_cast<double>(longest), limit = model.request.memory_limit;
  if (limit <= 0 || bytes <= limit) return;
  const auto room = static_cast<std::size_t>(limit / of_token);
  throw Error(Complaint{
      .what = "keys and values of the text do not fit into memory",
      .where = "--steps",
      .expected = "at most " + bytes_text(limit),
      .got = bytes_text(bytes) + " for " + std::to_string(longest) + " tokens",
      .hint = room > sizes.L ? "--steps " + std::to_string(room - sizes.L) + " has room" : ""});
}

template <class T>
int generate_in(const GenerateOptions& options, const ModelBundle& bundle,
                std::vector<std::size_t> ids, std::size_t steps) {
  const std::size_t prompt = ids.size(), E = bundle.inputs.embedding.array.shape[1];
  const std::optional<std::size_t> stop = id_of_option(bundle, "stop");
  // The last token taken is not looked at again.
  const std::size_t longest = prompt + (steps > 0 ? steps - 1 : 0);
  require_places(bundle, prompt, longest);
  const Planned planned = plan(bundle, prompt);
  require_room(bundle, planned.sizes, longest, sizeof(T));
  const Tensor<double, 2> positions = positions_for(bundle.options, bundle.position, longest, E);
  require_memory(memory_of<T>(planned, !options.dump.empty()), bundle.request, planned.sizes);
  use_threads(bundle.request, planned.sizes,
              4.0 * static_cast<double>(prompt * E) * static_cast<double>(planned.F));

  LanguageModel<T> model(bundle.inputs, positions);
  TraceReport report;
  std::size_t layer_now = 0, stage_now = 0;
  OnLayerStage<T> keep;
  if (!options.dump.empty()) {
    keep = [&](std::size_t layer, std::string_view, Tensor<T, 4>& value) {
      if (layer != layer_now) stage_now = 0;
      layer_now = layer;
      report.stages.push_back(row_of<T>(planned.layers.at(layer).at(stage_now++), as_array(value),
                                        std::as_const(value).elements()));
    };
  }
  const ModelOutput<T> of_prompt = model.extend(ids, keep);
  for (const std::string& text : model.notes()) note(options.console, text);
  if (!options.dump.empty()) {
    if (!planned.final_norm.id.empty()) {
      report.stages.push_back(row_of<T>(planned.final_norm, as_array(of_prompt.final_norm),
                                        of_prompt.final_norm.elements()));
    }
    report.stages.push_back(
        row_of<T>(planned.logits, as_array(of_prompt.logits), of_prompt.logits.elements()));
    write_dump(options, bundle, planned, report, names_of(bundle, ids));
  }
  if (!options.logits.empty()) {
    require_no_input(options.logits, bundle.request.input_files, "--logits");
    write_npy(options.logits, as_array(of_prompt.logits));
  }

  GenerateReport generated;
  for (const NextToken& next : continue_greedily(model, of_prompt.logits, steps, stop)) {
    ids.push_back(next.id);
    generated.generated.push_back({next.logit, next.p});
    generated.stopped = next.id == stop;
  }
  generated.tokens = names_of(bundle, ids);
  if (bundle.vocabulary) generated.text = text_of(bundle, ids);
  generated.ids = std::move(ids);
  if (options.logits == "-") return done;
  print(options.console.json ? generate_json(generated) : generate_text(generated));
  return done;
}

/// --steps; where it is not given, as many as a table of learned positions has room for.
std::size_t steps_of(const GenerateOptions& options, const ModelBundle& model, std::size_t prompt) {
  if (!options.steps.empty())
    return static_cast<std::size_t>(parse_integer(options.steps, "--steps", 0));
  if (!model.position || model.position->array.shape.empty()) return default_steps;
  const std::size_t places = model.position->array.shape[0];
  return std::min(default_steps, places < prompt ? 0 : places - prompt + 1);
}

/// throws  Error: a vocabulary of another size than the embedding
void require_names(const ModelBundle& model) {
  const NamedArray& table = model.inputs.embedding;
  if (!model.vocabulary || model.vocabulary->size() == table.array.shape[0]) return;
  throw Error(Complaint{.what = "vocabulary and embedding differ in size",
                        .where = model.vocabulary_file,
                        .expected = std::to_string(table.array.shape[0]) + " lines, V as in " +
                                    table.where + " " + shape_text(table.array.shape),
                        .got = std::to_string(model.vocabulary->size())});
}

int run_generate(const GenerateOptions& options) {
  text_style(options.console);
  if (options.logits == "-" && options.console.json) {
    throw Error(Complaint{.what = "several results on standard output",
                          .where = "--logits and --json",
                          .expected = "one of them"});
  }
  if (!options.steps.empty()) parse_integer(options.steps, "--steps", 0);
  const ModelBundle model = read_model_bundle(options.folder, options.words);
  for (const std::string& text : model.request.notes) note(options.console, text);
  require_names(model);
  for (const char* name : {"bos", "stop"}) id_of_option(model, name);
  const std::vector<std::size_t> ids = prompt_ids(model);
  const std::size_t steps = steps_of(options, model, ids.size());
  if (model.request.compute == Compute::f32) return generate_in<float>(options, model, ids, steps);
  return generate_in<double>(options, model, ids, steps);
}

}  // namespace

Action add_generate(CLI::App& app) {
  auto options = std::make_shared<GenerateOptions>();
  app.add_option("MODEL", options->folder,
                 "A folder with embedding.npy, layers/0 ..., final_norm_w.npy, vocab.txt and "
                 "config.json")
      ->type_name("MODEL")
      ->required();
  const auto word = [&](const char* name, const char* value, const char* help) {
    app.add_option_function<std::string>(
           std::string("--") + name,
           [values = &options->words, name](const std::string& text) {
             values->values[name] = text;
           },
           help)
        ->type_name(value)
        ->group("Prompt");
  };
  word("prompt", "TEXT|-", "The text to go on from; - reads it from standard input");
  word("tokens", "IDS|FILE", "Its token ids in place of a text: 1,403,407, or a tensor (L)");
  app.add_option("--steps", options->steps, "Tokens to generate, each the most probable one (32)")
      ->type_name("N")
      ->group("Prompt");
  app.add_option("--logits", options->logits,
                 "Write the logits of the prompt, (L,V), as .npy; - is standard output")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--dump", options->dump,
                 "Write each stage of the prompt as DIR/LAYER/STAGE.npy, and DIR/tokens.txt")
      ->type_name("DIR")
      ->group("Output");
  add_model_options(app, options->words);
  add_console_options(app, options->console);
  return [options] { return run_generate(*options); };
}

}  // namespace qkv::cli
