// qkv classify: embedding, attention, mean over the real tokens, a linear map, class probabilities.
#include "qkv/model/classify.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/classifier_model.hpp"
#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/memory.hpp"
#include "cli/outputs.hpp"
#include "cli/run.hpp"
#include "cli/standard_input.hpp"
#include "cli/text_input.hpp"
#include "qkv/attention/pipeline.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/write.hpp"
#include "qkv/report/classify_report.hpp"

namespace qkv::cli {

namespace fs = std::filesystem;

namespace {

struct ClassifyOptions {
  std::string text, dump;
  CommonOptions words;
  ConsoleOptions console;
};

/// What a text's own attention has no use for.
constexpr std::string_view left_out[] = {"context", "q", "k", "v", "layout", "past-k", "past-v"};

bool is_for_texts(const std::string& name) {
  return name == "table" ||
         std::ranges::find(text_option_list(), name, &OptionRow::key) != text_option_list().end();
}

/// X comes embedded: options for texts would be ignored.
void require_no_text_options(const CommonOptions& options) {
  for (const auto& [name, value] : options.values) {
    if (!is_for_texts(name)) continue;
    throw Error(Complaint{.what = "an option for texts",
                          .where = "--" + name,
                          .expected = "a text",
                          .got = "X, which is embedded already"});
  }
}

/// Padding follows from the lines.
void require_no_padding(const CommonOptions& options) {
  for (const char* name : {"key-padding", "lengths"}) {
    if (!options.has(name)) continue;
    throw Error(Complaint{.what = "padding for texts",
                          .where = options.place(name),
                          .expected = "none: each text is as long as its tokens",
                          .got = escaped(options.at(name))});
  }
}

/// Puts X and its key padding into the request.
template <class T>
void add_x(const Tokenised& tokenised, const CommonOptions& options, Request& request) {
  const NamedArray& table = request.further_tensors.at("table");
  require_table(table, "(V,E), a row for each id");
  const std::size_t V = table.array.shape[0], E = table.array.shape[1];
  const std::size_t B = tokenised.ids.size(), L = padded_length(tokenised.ids);
  require_rows(tokenised.ids, tokenised.sentences, V, table.where);
  std::optional<NamedArray> file;
  if (request.further_tensors.contains("pos-encoding"))
    file = request.further_tensors.at("pos-encoding");
  const Tensor<double, 2> positions = positions_for(options, file, L, E);
  const double bytes =
      static_cast<double>(B) * static_cast<double>(L) * static_cast<double>(E) * sizeof(T);
  if (request.memory_limit > 0 && bytes > request.memory_limit) {
    throw Error(Complaint{.what = "x does not fit into memory",
                          .where = "x " + shape_text({B, L, E}),
                          .expected = "at most " + bytes_text(request.memory_limit),
                          .got = bytes_text(bytes),
                          .hint = B > 1 ? "fewer lines at a time, or lines of like length" : ""});
  }
  const Tensor<T, 3> x = embed<T>(tokenised.ids, as_rank<T, 2>(table.array), positions);
  request.inputs.x = {as_array(x), "x of the text"};
  if (!tokenised.several) {
    request.inputs.x->array = reshaped(request.inputs.x->array, {L, E});
    return;
  }
  request.inputs.key_padding = {key_padding(tokenised.ids), "padding of the text"};
  // A preset may have turned the meaning of the user's paddings, not that of this one.
  request.settings.padding_true = MaskTrue::attend;
}

/// Standard input is a text, and holds nothing else.
void require_no_other_on_stdin(const CommonOptions& options) {
  for (const auto& [name, value] : options.values) {
    const bool characters = name == "drop" || name == "unk";
    if (characters || (value != "-" && !value.starts_with("-["))) continue;
    throw Error(Complaint{.what = "several inputs from standard input",
                          .where = "TEXT, --" + name,
                          .expected = "one - at most, where it is a text"});
  }
}

/// What the library reads: an option for texts whose value is "-" is no tensor on standard input.
CommonOptions without_texts(CommonOptions options) {
  for (const std::span<const OptionRow> rows : {text_option_list(), model_option_list()}) {
    for (const OptionRow& row : rows) {
      const std::string name(row.key());
      if (std::ranges::find(options.further_tensors, name) == options.further_tensors.end())
        options.values.erase(name);
    }
  }
  return options;
}

/// Stages that were held, by their file names.
using Dumped = std::vector<std::pair<std::string, Array>>;

void write_dump(const std::string& folder, const Dumped& stages,
                const std::vector<std::string>& inputs) {
  make_folder(folder, "--dump");
  const auto file = [&](const std::string& stage) {
    return (fs::path(folder) / (stage + ".npy")).string();
  };
  for (const auto& [stage, values] : stages) require_no_input(file(stage), inputs, "--dump");
  for (const auto& [stage, values] : stages) write_npy(file(stage), values);
}

template <class T>
int classify_in(const ClassifyOptions& options, const CommonOptions& words, Request& request,
                const std::optional<Tokenised>& tokenised) {
  if (tokenised) {
    add_x<T>(*tokenised, words, request);
    join_heads(request);
  }
  const Sizes sizes = find_sizes(request.inputs, request.settings);
  const std::vector<StageShape> shapes = stage_shapes(request.inputs, request.settings, sizes);
  require_memory(stage_memory(shapes, sizes, sizeof(T)), request, sizes);
  use_threads(request, sizes);

  const NamedArray& fc_w = request.further_tensors.at("fc-w");
  std::optional<NamedArray> fc_b;
  if (request.further_tensors.contains("fc-b")) fc_b = request.further_tensors.at("fc-b");
  std::string square;
  const Linear<T> fc = read_classifier<T>(fc_w, fc_b, sizes.E_out, request.settings.weight_order,
                                          request.inputs, square);
  std::vector<std::string> notes;
  if (!square.empty()) notes.push_back(square);
  const std::vector<std::string> labels = read_labels(words, fc_w, fc.out(), notes);

  const Problem<T> problem = make_problem<T>(request.inputs, request.settings);
  for (const auto& texts : {problem.notes, notes}) {
    for (const std::string& text : texts) note(options.console, text);
  }
  Dumped stages;
  const Attended<T> attended = attend<T>(problem, [&](std::string_view, Tensor<T, 4>& value) {
    if (options.dump.empty()) return;
    const StageShape& shape = shapes.at(stages.size());
    stages.emplace_back(shape.id, reshaped(as_array(value), shape.shape));
  });
  const Tensor<T, 3> out = attended.out.template reshaped<3>({sizes.B, sizes.L, sizes.E_out});
  const Classified<T> classified = classify(out, real_tokens(problem.visibility), fc);

  ClassifyReport report{.batch = sizes.has_batch};
  if (tokenised) {
    report.tokens = tokenised->sentences;
    report.ids = tokenised->ids;
  }
  for (std::size_t b = 0; b < sizes.B; ++b) {
    const std::span<const T> row = std::as_const(classified.p).row(b);
    report.classes.push_back(by_probability(labels, {row.begin(), row.end()}));
  }
  if (!options.dump.empty()) {
    for (const auto& [name, values] :
         {std::pair("mean", classified.mean), std::pair("logits", classified.logits),
          std::pair("p", classified.p)}) {
      const Array array = as_array(values);
      stages.emplace_back(name, sizes.has_batch ? array : reshaped(array, {values.size(1)}));
    }
    write_dump(options.dump, stages, request.input_files);
  }
  print(options.console.json ? classify_json(report)
                             : classify_text(report, text_style(options.console)));
  return done;
}

int run_classify(const ClassifyOptions& options) {
  text_style(options.console);
  CommonOptions words = options.words;
  std::string lines;
  const bool from_stdin = options.text == "-" || options.text.starts_with("-[");
  if (from_stdin) lines = read_standard_input();
  const bool tensor =
      from_stdin ? is_npy_stream(lines) || options.text != "-" : names_tensor(options.text);
  if (tensor) {
    if (from_stdin) put_back(lines);
    words.values["input"] = options.text;
    require_no_text_options(words);
  }
  add_model(words);
  require_model(words, !tensor);

  std::optional<Tokenised> tokenised;
  if (!tensor) {
    require_no_padding(words);
    if (from_stdin) require_no_other_on_stdin(words);
    const Splitting splitting = splitting_of(words);
    Texts texts =
        from_stdin ? texts_of_lines(lines, splitting) : text_of_argument(options.text, splitting);
    if (!texts.note.empty()) note(options.console, texts.note);
    tokenised = tokenise(std::move(texts), words);
    for (const std::string& text : tokenised->notes) note(options.console, text);
  }
  for (const char* name : {"table", "fc-w", "fc-b"}) {
    if (words.has(name) && (!tensor || !is_for_texts(name)))
      words.further_tensors.emplace_back(name);
  }
  if (!tensor && has_position_file(words)) words.further_tensors.emplace_back("pos-encoding");

  Request request = read_request(without_texts(words));
  require_full_precision(request, "no classifier in half precision");
  for (const char* name : {"vocab", "labels"}) {
    if (words.has(name)) request.input_files.push_back(words.at(name));
  }
  for (const std::string& text : request.notes) note(options.console, text);
  if (request.compute == Compute::f32)
    return classify_in<float>(options, words, request, tokenised);
  return classify_in<double>(options, words, request, tokenised);
}

}  // namespace

Action add_classify(CLI::App& app) {
  auto options = std::make_shared<ClassifyOptions>();
  app.add_option("TEXT", options->text,
                 "A text, - for a text a line on standard input, or X, (L,E) or (B,L,E)")
      ->type_name("TEXT|X")
      ->required();
  add_further_options(app, options->words, model_option_list());
  add_further_options(app, options->words, text_option_list());
  std::vector<std::string_view> names;
  for (const OptionRow& row : option_list()) {
    if (std::ranges::find(left_out, row.key()) == std::end(left_out)) names.push_back(row.key());
  }
  add_some_options(app, options->words, names);
  app.add_option("--dump", options->dump,
                 "Write each stage of attention, mean, logits and p as DIR/STAGE.npy")
      ->type_name("DIR")
      ->group("Output");
  add_console_options(app, options->console);
  return [options] { return run_classify(*options); };
}

}  // namespace qkv::cli
