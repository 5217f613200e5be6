// qkv grad: the backward pass, a gradient for every stage, input and weight.
#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/describe.hpp"
#include "cli/memory.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "cli/run.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/base/text.hpp"
#include "qkv/grad/backward.hpp"
#include "qkv/grad/difference_check.hpp"
#include "qkv/grad/findings.hpp"
#include "qkv/io/write.hpp"
#include "qkv/report/grad_report.hpp"
#include "qkv/tensor/matmul.hpp"

namespace qkv::cli {

namespace {

struct GradOptions {
  CommonOptions common;
  ConsoleOptions console;
  std::string clip, dump;
  bool check = false;
};

std::optional<double> max_norm(const GradOptions& options) {
  if (options.clip.empty()) return std::nullopt;
  const double norm = parse_number(options.clip, "--clip");
  if (norm > 0 && std::isfinite(norm)) return norm;
  throw Error(Complaint{.what = "not a norm to clip to",
                        .where = "--clip",
                        .expected = "a number greater than 0",
                        .got = escaped(options.clip)});
}

std::optional<NamedArray> dout_of(const Request& request) {
  const auto found = request.further_tensors.find("dout");
  if (found == request.further_tensors.end()) return std::nullopt;
  return found->second;
}

std::string index_at(std::size_t position, const Shape& shape) {
  std::vector<std::size_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; position /= shape[axis])
    index[axis] = position % shape[axis];
  return index_text(index);
}

/// In float64 whatever --compute says: differences in float would have no digits left.
std::vector<GradCheckRow> check_rows(const Request& request,
                                     const std::optional<NamedArray>& dout) {
  const Inputs& inputs = request.inputs;
  const NamedArray comparable = comparable_dout(inputs, request.settings, dout);
  const auto problem = make_problem<double>(inputs, request.settings);
  const std::vector<Gradient<double>> gradients =
      backward(inputs, problem, upstream<double>(comparable, inputs, problem)).gradients;
  // The elements are shared out to the threads; each product of matrices takes one.
  set_blas_threads(1);
  const std::vector<DifferenceCheck> checks =
      check_by_differences(inputs, request.settings, comparable, gradients, request.threads);

  std::vector<GradCheckRow> rows;
  for (std::size_t n = 0; n < checks.size(); ++n) {
    const DifferenceCheck& check = checks[n];
    GradCheckRow row{.of = check.of, .checked = check.checked, .count = check.count};
    if (check.checked > 0) {
      row.max_rel = check.max_rel;
      row.limit = check.limit;
      row.status = check.passes() ? Status::pass : Status::fail;
      if (!check.passes()) {
        row.worst = check.of + index_at(check.at, gradients[n].shape) + " is " +
                    short_number(check.gradient) + ", by difference " +
                    short_number(check.difference);
      }
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<CheckResult> as_results(const std::vector<GradFinding>& found) {
  std::vector<CheckResult> results;
  for (const GradFinding& finding : found) {
    results.push_back({.id = finding.id,
                       .stage = finding.stage,
                       .status = finding.fails ? Status::fail : Status::warn,
                       .message = finding.message,
                       .hint = finding.hint});
  }
  return results;
}

/// Writes every gradient, then the report beside them.
template <class T>
void dump(const GradOptions& options, const Request& request,
          const std::vector<Gradient<T>>& gradients, const GradReport& report) {
  const std::filesystem::path folder = options.dump;
  make_folder(options.dump, "--dump");
  const auto file_of = [&](const Gradient<T>& gradient) {
    return (folder / ("grad_" + gradient.of + ".npy")).string();
  };
  for (const Gradient<T>& gradient : gradients)
    require_no_input(file_of(gradient), request.input_files, "--dump");
  for (const Gradient<T>& gradient : gradients)
    write_npy(file_of(gradient), reshaped(as_array(gradient.values), gradient.shape));
  OutputFile file((folder / "grad.json").string());
  file.write(grad_json(report));
  file.commit();
}

template <class T>
int grad(const GradOptions& options, const Request& request, const Sizes& sizes,
         const std::optional<double>& clip) {
  const Problem<T> problem = make_problem<T>(request.inputs, request.settings);
  const std::optional<NamedArray> dout = dout_of(request);
  const Tensor<T, 4> incoming = upstream<T>(dout, request.inputs, problem);
  for (const std::string& text : problem.notes) note(options.console, text);

  Backward<T> result = backward(request.inputs, problem, incoming);
  GradReport report;
  report.headline = headline(request, sizes) + "\n" +
                    (dout ? "loss = sum(dout·out), dout from " + dout->where : "loss = sum of out");
  report.findings = as_results(findings(result, problem));
  if (clip) {
    const Clipped clipped = clip_gradients(result.gradients, *clip);
    report.clip = GradClip{*clip, clipped.norm, clipped.factor, clipped.of};
  }
  for (const Gradient<T>& gradient : result.gradients) {
    const GradientSize size = size_of(gradient);
    report.grads.push_back(
        {gradient.of, gradient.shape, size.norm, size.max_abs, size.nan, size.inf});
  }
  if (options.check) report.check = check_rows(request, dout);

  if (!options.dump.empty()) dump(options, request, result.gradients, report);
  print(options.console.json ? grad_json(report) : grad_text(report, text_style(options.console)));
  return worst_status(report) == Status::fail ? negative : done;
}

/// Every stage and its gradient; the comparison holds the stages again, and each thread works on
/// some of its own.
MemoryEstimate memory(const GradOptions& options, const Request& request,
                      const std::vector<StageShape>& shapes, const Sizes& sizes) {
  const bool single = request.compute == Compute::f32;
  MemoryEstimate estimate = stage_memory(shapes, sizes, single ? sizeof(float) : sizeof(double));
  double times = 2;
  if (options.check)
    times += (2 + static_cast<double>(request.threads)) * (single ? 2 : 1);  // all in double
  estimate.bytes_at = [times, once = estimate.bytes_at](const Sizes& other) {
    return times * once(other);
  };
  estimate.bytes = estimate.bytes_at(sizes);
  return estimate;
}

int run_grad(const GradOptions& options) {
  text_style(options.console);  // complains of a bad --color before any work
  const std::optional<double> clip = max_norm(options);
  const Request request = read_request(options.common);
  require_full_precision(request, "no gradients in half precision",
                         std::string("qkv trace --compute ") + std::string(name(request.compute)) +
                             " shows where the way forward overflows");
  for (const std::string& text : request.notes) note(options.console, text);
  const Sizes sizes = find_sizes(request.inputs, request.settings);
  require_memory(
      memory(options, request, stage_shapes(request.inputs, request.settings, sizes), sizes),
      request, sizes);
  use_threads(request, sizes);
  if (request.compute == Compute::f32) return grad<float>(options, request, sizes, clip);
  return grad<double>(options, request, sizes, clip);
}

}  // namespace

Action add_grad(CLI::App& app) {
  auto options = std::make_shared<GradOptions>();
  add_common_options(app, options->common);
  add_tensor_option(app, options->common, "dout", "D",
                    "Gradient that comes in, of the shape of out (ones: the loss is its sum)");
  app.add_flag("--check", options->check,
               "Compare with central differences of the loss, in float64")
      ->group("Output");
  app.add_option("--clip", options->clip,
                 "Scale the gradients of all weights down to this norm, if theirs is greater")
      ->type_name("NORM")
      ->group("Output");
  app.add_option("--dump", options->dump,
                 "Write each gradient as DIR/grad_NAME.npy, and DIR/grad.json")
      ->type_name("DIR")
      ->group("Output");
  add_console_options(app, options->console);
  return [options] { return run_grad(*options); };
}

}  // namespace qkv::cli
