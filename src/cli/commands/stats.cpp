// qkv stats: a row per tensor.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/bundle.hpp"
#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/run.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"

namespace qkv::cli {

namespace {

struct StatsOptions {
  std::vector<std::string> files;
  bool histogram = false;
  ConsoleOptions console;
};

std::string order_of(const Array& array) {
  std::string order = array.fortran_order ? "F" : "C";
  const auto size = size_of(array.dtype);
  const auto& plain = array.fortran_order ? column_major_strides(array.shape, size)
                                          : row_major_strides(array.shape, size);
  if (element_count(array.shape) > 0 && array.strides != plain) order = "strided";
  return array.swapped && size > 1 ? ">" + order : order;
}

/// A file that holds several tensors stands for all of them where none is named.
std::vector<std::string> expanded(const std::string& argument) {
  namespace fs = std::filesystem;
  const bool container = argument.ends_with(".npz") || argument.ends_with(".safetensors");
  if (!container || !fs::is_regular_file(argument)) return {argument};
  std::vector<std::string> arguments;
  for (const std::string& name : tensor_names(argument)) arguments.push_back(argument + ":" + name);
  return arguments;
}

StatsRow row_of(const std::string& name, const Array& array, bool with_histogram) {
  StatsRow row{.name = name,
               .shape = array.shape,
               .dtype = array.dtype,
               .order = order_of(array),
               .stats = stats_of(array),
               .histogram = {}};
  if (with_histogram) row.histogram = histogram_of(array, row.stats, 10);
  return row;
}

int run_stats(const StatsOptions& options) {
  const TextStyle style = text_style(options.console);
  TensorStream stdin_stream(STDIN_FILENO);
  std::vector<StatsRow> rows;
  Complaints complaints;
  for (const std::string& file : options.files) {
    complaints.attempt([&] {
      for (const std::string& argument : expanded(file))
        rows.push_back(row_of(argument, read_tensor(argument, stdin_stream), options.histogram));
    });
  }
  // What could be read is shown, then what could not is said.
  if (!rows.empty()) print(options.console.json ? stats_json(rows) : stats_text(rows, style));
  complaints.throw_if_any();
  return done;
}

}  // namespace

Action add_stats(CLI::App& app) {
  auto options = std::make_shared<StatsOptions>();
  app.add_option("FILES", options->files, "Tensors: FILE.npy, FILE.npz:MEMBER, - ...")
      ->type_name("FILE ...")
      ->required();
  app.add_flag("--hist", options->histogram, "A histogram of the finite values");
  add_console_options(app, options->console);
  return [options] { return run_stats(*options); };
}

}  // namespace qkv::cli
