// qkv embed: text to tokens, ids and X.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/bundle.hpp"
#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "cli/run.hpp"
#include "cli/standard_input.hpp"
#include "cli/text_input.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"
#include "qkv/io/write.hpp"
#include "qkv/report/embed_report.hpp"

namespace qkv::cli {

namespace {

struct EmbedOptions {
  std::string text, table, dim, seed;
  CommonOptions words;
  std::string output, padding, ids, table_out, tokens, vocabulary;
  ConsoleOptions console;
};

struct Output {
  const char* flag;
  const std::string& path;
};

/// Tensors, in the order in which they share standard output.
std::vector<Output> tensor_outputs(const EmbedOptions& options) {
  return {{"-o", options.output},
          {"--padding-out", options.padding},
          {"--ids-out", options.ids},
          {"--table-out", options.table_out}};
}

std::vector<Output> text_outputs(const EmbedOptions& options) {
  return {{"--tokens-out", options.tokens}, {"--vocab-out", options.vocabulary}};
}

bool on_stdout(const Output& output) { return output.path == "-"; }

/// True where standard output is no longer free for the report.
/// throws  Error: two files of one name, several texts for standard output, an input that would be
/// overwritten
bool check_outputs(const EmbedOptions& options, const std::vector<std::string>& inputs) {
  const std::vector<Output> tensors = tensor_outputs(options), texts = text_outputs(options);
  std::vector<std::string> on_it;
  const auto first = std::ranges::find_if(tensors, on_stdout);
  if (first != tensors.end()) on_it.emplace_back(first->flag);
  for (const Output& output : texts) {
    if (on_stdout(output)) on_it.emplace_back(output.flag);
  }
  const bool taken = !on_it.empty();
  if (options.console.json) on_it.emplace_back("--json");
  if (on_it.size() > 1) {
    throw Error(Complaint{.what = "several results on standard output",
                          .where = listed(on_it),
                          .expected = "one of them; tensors may share it"});
  }
  std::vector<Output> files;
  for (const auto& outputs : {tensors, texts}) {
    for (const Output& output : outputs) {
      if (output.path.empty() || output.path == "-") continue;
      for (const Output& other : files) {
        if (other.path != output.path) continue;
        throw Error(Complaint{.what = "two outputs to one file",
                              .where = output.flag,
                              .expected = std::string("another file than ") + other.flag,
                              .got = escaped(output.path, 4096)});
      }
      require_no_input(output.path, inputs, output.flag);
      files.push_back(output);
    }
  }
  return taken;
}

/// throws  Error: two inputs that would both read standard input
void check_standard_input(const EmbedOptions& options) {
  std::vector<std::string> readers;
  if (options.text == "-") readers.emplace_back("TEXT");
  if (options.table.starts_with("-")) readers.emplace_back("--table");
  for (const char* name : {"vocab", "pos-encoding"}) {
    if (options.words.has(name) && options.words.at(name).starts_with("-"))
      readers.push_back("--" + std::string(name));
  }
  if (readers.size() > 1) {
    throw Error(Complaint{.what = "several inputs from standard input",
                          .where = listed(readers),
                          .expected = "one - at most"});
  }
}

NamedArray read_named(const std::string& argument, const std::string& flag) {
  TensorStream stdin_stream(STDIN_FILENO);
  return {read_tensor(argument, stdin_stream),
          argument.starts_with("-") ? "stdin, " + flag : escaped(argument, 4096)};
}

/// The table, given or drawn.
NamedArray embedding_table(const EmbedOptions& options, std::size_t V) {
  if (!options.table.empty() && !options.dim.empty()) {
    throw Error(Complaint{.what = "both a table and a width for a random one",
                          .where = "--table, --dim",
                          .expected = "one of the two"});
  }
  if (options.dim.empty() && !options.seed.empty()) {
    throw Error(Complaint{.what = "a seed without random numbers",
                          .where = "--seed",
                          .expected = "--dim E",
                          .got = options.table.empty() ? "none" : "--table"});
  }
  if (!options.table.empty()) {
    NamedArray table = read_named(options.table, "--table");
    require_table(table, "(V,E), a row for each id");
    return table;
  }
  if (options.dim.empty()) {
    throw Error(Complaint{.what = "no embedding table",
                          .where = "--table, --dim",
                          .expected = "--table T, or --dim E for random numbers",
                          .got = "neither"});
  }
  const auto E = static_cast<std::size_t>(parse_integer(options.dim, "--dim", 1));
  const auto count = checked_count({V, E});
  if (!count || *count > (std::size_t{1} << 40)) {
    throw Error(Complaint{.what = "tensor too large",
                          .where = "--dim",
                          .expected = "less than 2^40 elements",
                          .got = shape_text({V, E})});
  }
  const auto seed = static_cast<std::uint64_t>(
      options.seed.empty() ? 0 : parse_integer(options.seed, "--seed", 0));
  return {as_array(random_table(V, E, seed)), "--dim"};
}

template <class T>
Array embedded(const Tokenised& tokenised, const NamedArray& table,
               const Tensor<double, 2>& positions) {
  const Tensor<T, 3> x = embed<T>(tokenised.ids, as_rank<T, 2>(table.array), positions);
  Shape shape = x.shape();
  if (!tokenised.several) shape.erase(shape.begin());
  return reshaped(as_array(x), shape);
}

void write_text(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

std::string one_a_line(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token + "\n";
  return text;
}

void write_outputs(const EmbedOptions& options, const Tokenised& tokenised, const Array& table,
                   const EmbedReport& report) {
  if (!options.output.empty()) write_npy(options.output, report.x);
  if (!options.padding.empty()) write_npy(options.padding, key_padding(tokenised.ids));
  if (!options.ids.empty()) {
    Array ids = padded_ids(tokenised.ids);
    if (!tokenised.several) ids = reshaped(ids, {ids.shape[1]});
    write_npy(options.ids, ids);
  }
  if (!options.table_out.empty()) write_npy(options.table_out, table);
  if (!options.tokens.empty()) {
    write_text(options.tokens,
               tokenised.several ? embed_json(report) : one_a_line(tokenised.sentences[0]));
  }
  if (!options.vocabulary.empty())
    write_text(options.vocabulary, one_a_line(tokenised.vocabulary.tokens()));
}

int run_embed(const EmbedOptions& options) {
  const TextStyle style = text_style(options.console);
  check_standard_input(options);
  const bool position_file = has_position_file(options.words);
  std::vector<std::string> inputs;
  for (const std::string& file :
       {options.table, options.words.has("vocab") ? options.words.at("vocab") : "",
        position_file ? options.words.at("pos-encoding") : ""}) {
    if (!file.empty()) inputs.push_back(split_file(file));
  }
  const bool taken = check_outputs(options, inputs);

  const Splitting splitting = splitting_of(options.words);
  Texts texts = options.text == "-" ? texts_of_lines(read_standard_input(), splitting)
                                    : text_of_argument(options.text, splitting);
  if (!texts.note.empty()) note(options.console, texts.note);
  const Tokenised tokenised = tokenise(std::move(texts), options.words);
  for (const std::string& text : tokenised.notes) note(options.console, text);

  const NamedArray table = embedding_table(options, tokenised.vocabulary.size());
  const std::size_t V = table.array.shape[0], E = table.array.shape[1];
  const std::size_t B = tokenised.ids.size(), L = padded_length(tokenised.ids);
  require_rows(tokenised.ids, tokenised.sentences, V, table.where);
  std::optional<NamedArray> positions;
  if (position_file) positions = read_named(options.words.at("pos-encoding"), "--pos-encoding");
  const Tensor<double, 2> added = positions_for(options.words, positions, L, E);
  const auto count = checked_count({B, L, E});
  if (!count || *count > (std::size_t{1} << 40)) {
    throw Error(Complaint{.what = "tensor too large",
                          .where = "x",
                          .expected = "less than 2^40 elements",
                          .got = shape_text({B, L, E})});
  }
  const bool wide = table.array.dtype == DType::float64;

  EmbedReport report{.tokens = tokenised.sentences,
                     .ids = tokenised.ids,
                     .batch = tokenised.several,
                     .vocab_size = tokenised.vocabulary.size(),
                     .x = wide ? embedded<double>(tokenised, table, added)
                               : embedded<float>(tokenised, table, added),
                     .with_values = options.output.empty()};
  write_outputs(options, tokenised, table.array, report);
  if (!taken) print(options.console.json ? embed_json(report) : embed_text(report, style));
  return done;
}

}  // namespace

Action add_embed(CLI::App& app) {
  auto options = std::make_shared<EmbedOptions>();
  app.add_option("TEXT", options->text, "A text, or - for a text a line on standard input")
      ->type_name("TEXT|-")
      ->required();
  app.add_option("--table", options->table, "Embedding table (V,E), a row for each id")
      ->type_name("T")
      ->group("Embedding");
  app.add_option("--dim", options->dim, "E, width of a random table in place of --table")
      ->type_name("E")
      ->group("Embedding");
  app.add_option("--seed", options->seed, "Same seed, same table, on every machine (0)")
      ->type_name("N")
      ->group("Embedding");
  add_further_options(app, options->words, text_option_list());
  const auto output = [&](const char* flags, std::string& path, const char* help) {
    app.add_option(flags, path, help)->type_name("FILE")->group("Output");
  };
  output("-o,--output", options->output, "Write X, (L,E) or (B,L,E); - is standard output");
  output("--padding-out", options->padding, "Write the key padding, (B,L) bool, true where real");
  output("--ids-out", options->ids, "Write the ids, int64, -1 behind the end of a text");
  output("--table-out", options->table_out, "Write the embedding table, (V,E)");
  output("--tokens-out", options->tokens, "Write the tokens, a line each, for show --labels");
  output("--vocab-out", options->vocabulary, "Write the vocabulary, a token a line");
  add_console_options(app, options->console);
  return [options] { return run_embed(*options); };
}

}  // namespace qkv::cli
