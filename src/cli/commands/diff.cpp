// qkv diff: how far two tensors lie apart.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/numbers.hpp"
#include "cli/run.hpp"
#include "qkv/io/read.hpp"

namespace qkv::cli {

namespace {

struct DiffOptions {
  std::string a, b;
  std::string rtol, atol;
  bool equal_nan = false;
  ConsoleOptions console;
};

double tolerance(const std::string& text, const std::string& flag) {
  const double value = parse_number(text, flag);
  if (value >= 0) return value;
  throw Error(
      Complaint{.what = "negative tolerance", .where = flag, .expected = "0 or more", .got = text});
}

int run_diff(const DiffOptions& options) {
  const TextStyle style = text_style(options.console);
  TensorStream stdin_stream(STDIN_FILENO);
  const Array a = read_tensor(options.a, stdin_stream), b = read_tensor(options.b, stdin_stream);
  DiffReport report{
      .a = options.a, .b = options.b, .shape = a.shape, .dtype_a = a.dtype, .dtype_b = b.dtype};
  if (a.shape != b.shape) {
    require_shape(b.shape, a.shape, "shapes differ", options.b, "as in " + options.a);
  }
  report.tolerance = default_tolerance(a.dtype, b.dtype);
  if (!options.rtol.empty()) report.tolerance.rtol = tolerance(options.rtol, "--rtol");
  if (!options.atol.empty()) report.tolerance.atol = tolerance(options.atol, "--atol");
  report.tolerance.equal_nan = options.equal_nan;
  report.comparison = compare(a, b, report.tolerance);
  if (report.comparison.count > 0) {
    report.value_a = element(a, report.comparison.max_abs_at);
    report.value_b = element(b, report.comparison.max_abs_at);
    report.first_a = element(a, report.comparison.first_at);
    report.first_b = element(b, report.comparison.first_at);
  }
  print(options.console.json ? diff_json(report) : diff_text(report, style));
  return report.comparison.differing == 0 ? done : negative;
}

}  // namespace

Action add_diff(CLI::App& app) {
  auto options = std::make_shared<DiffOptions>();
  app.add_option("A", options->a, "A tensor")->type_name("FILE")->required();
  app.add_option("B", options->b, "The tensor that is expected")->type_name("FILE")->required();
  app.add_option("--rtol", options->rtol,
                 "Relative tolerance (by type: f16 1e-3, bf16 1.6e-2, f32 1.3e-6, f64 1e-7)")
      ->type_name("R");
  app.add_option("--atol", options->atol, "Absolute tolerance (by type: 1e-5, f64 1e-7)")
      ->type_name("A");
  app.add_flag("--equal-nan", options->equal_nan, "NaN equals NaN");
  add_console_options(app, options->console);
  return [options] { return run_diff(*options); };
}

}  // namespace qkv::cli
