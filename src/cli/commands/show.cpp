// qkv show: a heat map of a matrix, or of every head's.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/dump_folder.hpp"
#include "cli/labels.hpp"
#include "cli/numbers.hpp"
#include "cli/pictures.hpp"
#include "cli/run.hpp"
#include "cli/terminal.hpp"
#include "qkv/base/json.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"
#include "qkv/report/page.hpp"

namespace qkv::cli {

namespace {

struct ShowOptions {
  std::string tensor;
  LabelOptions labels;
  std::string range, width;
  bool hide_zeros = false;
  PictureFiles files;
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

std::string averaged_note(const HeatMap& map, const std::string& file) {
  return fmt::format(
      "{}averaged down from ({},{}) to ({},{}) cells: each is the mean of {} by {} elements",
      file.empty() ? "" : escaped(file, 4096) + ": ", map.matrix_rows, map.matrix_columns, map.rows,
      map.columns, map.block_rows, map.block_columns);
}

class Show {
 public:
  explicit Show(const ShowOptions& options)
      : options_(options),
        terminal_(terminal_of(options.console, options.width)),
        heat_(heat_options(options)) {
    require_separate(options.files, options.console.json, inputs());
  }

  void folder() const {
    if (options_.files.html.empty() || !options_.files.svg.empty() || !options_.files.png.empty()) {
      throw Error(Complaint{.what = "a folder becomes a page",
                            .where = escaped(options_.tensor, 4096),
                            .expected = "--html alone",
                            .hint = "a stage of it is a file, such as " +
                                    escaped(options_.tensor, 4096) + "/attn.npy"});
    }
    const Page page = read_dump(options_.tensor, heat_, options_.labels);
    for (const PageStage& stage : page.stages) page_notes(stage, stage.row.id);
    write_pictures({{options_.files.html, page_html(page)}});
    if (!options_.console.json) return;
    Json stages = Json::array(), outputs = Json::array();
    for (const PageStage& stage : page.stages) stages.push(stage.row.id);
    for (const std::string& file : options_.files.names()) outputs.push(file);
    print(Json::object()
              .add("schema", "qkv.show/1")
              .add("folder", options_.tensor)
              .add("stages", std::move(stages))
              .add("outputs", std::move(outputs))
              .dump());
  }

  void tensor() {
    TensorStream stdin_stream(STDIN_FILENO);
    const Matrices matrices =
        matrices_of(read_tensor(options_.tensor, stdin_stream), options_.tensor);
    const HeatLabels labels = labels_for(matrices, options_.labels);
    if (matrices.shape.size() == 4 && matrices.shape[0] > 1) {
      note(options_.console,
           fmt::format("batch row 0 of {} is shown; a part such as [1] picks another",
                       matrices.shape[0]));
    }
    if (options_.files.any()) write_pictures(pictures(matrices, labels));
    if (options_.console.json) {
      const HeatMap map = drawn(matrices, svg_limits(matrices), labels, "");
      print(heat_json(map, options_.files.names()));
    } else if (!options_.files.any()) {
      on_terminal(matrices, labels);
    }
  }

 private:
  std::vector<std::string> inputs() const {
    std::vector<std::string> files{options_.tensor};
    for (const std::string& file :
         {options_.labels.both, options_.labels.rows, options_.labels.columns}) {
      if (!file.empty()) files.push_back(file);
    }
    return files;
  }

  HeatMap drawn(const Matrices& matrices, const HeatLimits& limits, const HeatLabels& labels,
                const std::string& file) const {
    HeatMap map = heat_map(matrices, limits, heat_, labels);
    if (map.averaged()) note(options_.console, averaged_note(map, file));
    return map;
  }

  void page_notes(const PageStage& stage, const std::string& name) const {
    if (stage.map.averaged()) note(options_.console, averaged_note(stage.map, name));
    if (stage.batch_shown < stage.batch_rows) {
      note(options_.console, fmt::format("{}: batch rows 0 to {} of {} are on the page", name,
                                         stage.batch_shown - 1, stage.batch_rows));
    }
  }

  std::vector<Picture> pictures(const Matrices& matrices, const HeatLabels& labels) const {
    const auto& [svg, png, html] = options_.files;
    std::vector<Picture> pictures;
    if (!svg.empty())
      pictures.push_back({svg, heat_svg(drawn(matrices, svg_limits(matrices), labels, svg))});
    if (!png.empty())
      pictures.push_back({png, heat_png(drawn(matrices, png_limits(matrices), {}, png))});
    if (!html.empty()) pictures.push_back({html, page_html(page(matrices, labels, html))});
    return pictures;
  }

  Page page(const Matrices& matrices, const HeatLabels& labels, const std::string& file) const {
    StageRow row;
    row.id = matrices.name;
    row.shape = matrices.shape;
    row.dtype = matrices.array.dtype;
    row.stats = stats_of(matrices.array);
    Page page{.title = matrices.name};
    page.stages.push_back(page_stage(std::move(row), matrices, heat_));
    PageStage& stage = page.stages[0];
    page_notes(stage, file);
    if (labels.any()) stage.labels = {labels};
    if (stage.map.block_rows > 1 && labels.any()) stage.labels[0].rows.clear();
    if (stage.map.block_columns > 1 && labels.any()) stage.labels[0].columns.clear();
    return page;
  }

  void on_terminal(const Matrices& matrices, const HeatLabels& labels) const {
    const TerminalLayout layout = terminal_layout(matrices, labels, terminal_);
    const HeatMap map = drawn(matrices, layout.limits, labels, "");
    if (labels.any() && !layout.labelled)
      note(options_.console, "labels left out: there is no room for them in this width");
    print(heat_text(map, layout, terminal_));
  }

  const ShowOptions& options_;
  Terminal terminal_;
  HeatOptions heat_;
};

int run_show(const ShowOptions& options) {
  Show show(options);
  if (std::filesystem::is_directory(options.tensor)) {
    show.folder();
  } else {
    show.tensor();
  }
  return done;
}

}  // namespace

Action add_show(CLI::App& app) {
  auto options = std::make_shared<ShowOptions>();
  app.add_option(
         "T", options->tensor,
         "A tensor of rank 2, or 3 or 4 for a grid: FILE.npy[0,3]; for --html, a folder too")
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
  app.add_option("--range", options->range, "The ends of the scale, in place of those of the cells")
      ->type_name("LOW,HIGH");
  app.add_option("--width", options->width, "Columns of the terminal (COLUMNS is obeyed)")
      ->type_name("N");
  app.add_option("--svg", options->files.svg, "Write a picture with labels and a scale bar")
      ->type_name("FILE");
  app.add_option("--png", options->files.png, "Write the cells alone as pixels")->type_name("FILE");
  app.add_option("--html", options->files.html,
                 "Write a page with values on hover, of a tensor or of a folder from trace --dump")
      ->type_name("FILE");
  add_console_options(app, options->console);
  return [options] { return run_show(*options); };
}

}  // namespace qkv::cli
