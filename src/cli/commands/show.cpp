// qkv show: a heat map of a matrix, or of every head's.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/labels.hpp"
#include "cli/numbers.hpp"
#include "cli/run.hpp"
#include "cli/terminal.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"

namespace qkv::cli {

namespace {

struct ShowOptions {
  std::string tensor;
  LabelOptions labels;
  std::string range, width;
  bool hide_zeros = false;
  ConsoleOptions console;
};

HeatOptions heat_options(const ShowOptions& options) {
  HeatOptions heat{.hide_zeros = options.hide_zeros};
  if (options.range.empty()) return heat;
  heat.has_range = true;
  const std::size_t comma = options.range.find(',');
  if (comma != std::string::npos) {
    heat.range.low = parse_number(options.range.substr(0, comma), "--range");
    heat.range.high = parse_number(options.range.substr(comma + 1), "--range");
  }
  if (comma == std::string::npos || !std::isfinite(heat.range.low) ||
      !std::isfinite(heat.range.high) || heat.range.low >= heat.range.high) {
    throw Error(Complaint{.what = "not a range",
                          .where = "--range",
                          .expected = "LOW,HIGH, two finite numbers, the lower first",
                          .got = escaped(options.range)});
  }
  return heat;
}

/// What of the tensor is not seen, and why.
void notes(const ShowOptions& options, const Matrices& matrices, const HeatMap& map,
           const HeatLabels& labels, bool labelled) {
  if (matrices.shape.size() == 4 && matrices.shape[0] > 1) {
    note(options.console,
         fmt::format("batch row 0 of {} is shown; a part such as [1] picks another",
                     matrices.shape[0]));
  }
  if (map.averaged()) {
    note(options.console, fmt::format("averaged down from ({},{}) to ({},{}) cells: each is the "
                                      "mean of {} by {} elements",
                                      map.matrix_rows, map.matrix_columns, map.rows, map.columns,
                                      map.block_rows, map.block_columns));
  }
  if (labels.any() && !labelled)
    note(options.console, "labels left out: there is no room for them in this width");
}

int run_show(const ShowOptions& options) {
  const Terminal terminal = terminal_of(options.console, options.width);
  const HeatOptions heat = heat_options(options);
  TensorStream stdin_stream(STDIN_FILENO);
  const Matrices matrices = matrices_of(read_tensor(options.tensor, stdin_stream), options.tensor);
  const HeatLabels labels = labels_for(matrices, options.labels);
  const TerminalLayout layout = terminal_layout(matrices, labels, terminal);
  const HeatMap map = heat_map(matrices, layout.limits, heat, labels);
  notes(options, matrices, map, labels, layout.labelled);
  print(options.console.json ? heat_json(map, {}) : heat_text(map, layout, terminal));
  return done;
}

}  // namespace

Action add_show(CLI::App& app) {
  auto options = std::make_shared<ShowOptions>();
  app.add_option("T", options->tensor, "A tensor of rank 2, or 3 or 4 for a grid: FILE.npy[0,3]")
      ->type_name("FILE")
      ->required();
  app.add_option("--labels", options->labels.both,
                 "Tokens, a line each, or a JSON file with \"tokens\"")
      ->type_name("FILE");
  app.add_option("--row-labels", options->labels.rows, "Tokens for the rows alone (queries)")
      ->type_name("FILE");
  app.add_option("--column-labels", options->labels.columns, "Tokens for the columns alone (keys)")
      ->type_name("FILE");
  app.add_flag("--hide-zeros", options->hide_zeros, "Elements of exactly 0 are shown as hidden");
  app.add_option("--range", options->range, "The ends of the scale, in place of 0 or -max, and max")
      ->type_name("LOW,HIGH");
  app.add_option("--width", options->width, "Columns of the terminal (COLUMNS is obeyed)")
      ->type_name("N");
  add_console_options(app, options->console);
  return [options] { return run_show(*options); };
}

}  // namespace qkv::cli
