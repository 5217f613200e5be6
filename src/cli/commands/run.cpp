// qkv run: attention in one pass, no (L,S) tensor held.
#include "cli/run.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/common_options.hpp"
#include "cli/console.hpp"
#include "cli/describe.hpp"
#include "cli/fast_check.hpp"
#include "cli/memory.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/write.hpp"
#include "qkv/kernels/fast.hpp"
#include "qkv/kernels/kernel.hpp"
#include "qkv/tensor/stats.hpp"

namespace qkv::cli {

namespace {

using Clock = std::chrono::steady_clock;

struct RunOptions {
  CommonOptions common;
  ConsoleOptions console;
  std::string output, lse, present_k, present_v;
  std::string time;
  std::string kernel = "auto", isa = "auto";
  std::optional<std::string> fast;  ///< none: float32 throughout
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Where out goes as it comes: to its file, to the report's statistics, or to memory to be printed.
template <class T>
class OutSink {
 public:
  /// shape   of out with the axes that the input had
  OutSink(const std::string& path, Shape shape, Arithmetic arithmetic, bool wants_stats, bool held)
      : shape_(std::move(shape)), arithmetic_(arithmetic) {
    if (!path.empty()) file_.emplace(path, dtype_of(arithmetic, dtype_of<T>()), shape_);
    if (wants_stats) stats_.emplace();
    if (held) held_ = Tensor<T, 1>::make({element_count(shape_)});
  }

  void operator()(std::span<const T> elements) {
    const auto start = Clock::now();
    if (file_) write(elements);
    if (stats_) stats_->add(elements);
    if (!held_.empty()) std::ranges::copy(elements, held_.data() + done_);
    done_ += elements.size();
    seconds_ += seconds_since(start);
  }
  void commit() {
    if (file_) file_->commit();
  }

  Array out() const { return reshaped(as_array(held_, arithmetic_), shape_); }
  Stats stats() const { return stats_->result(); }
  double seconds() const { return seconds_; }

 private:
  void write(std::span<const T> elements) {
    if (arithmetic_ == Arithmetic::native) return file_->write(elements.data(), elements.size());
    auto some = Tensor<T, 1>::make({elements.size()});
    std::ranges::copy(elements, some.data());
    file_->write(as_array(some, arithmetic_).data, elements.size());
  }

  Shape shape_;
  Arithmetic arithmetic_;
  std::optional<NpyWriter> file_ = {};
  std::optional<RunningStats> stats_ = {};
  Tensor<T, 1> held_ = {};
  std::size_t done_ = 0;
  double seconds_ = 0;
};

template <class T>
struct Timed {
  OnePass<T> result;
  std::vector<double> seconds;  ///< sorted, one per counted run
};

/// One run into the sink, and --time N of them that only compute.
template <class T>
Timed<T> compute(const Problem<T>& problem, const Kernel& kernel, KernelRun how, std::size_t runs,
                 const ConsoleOptions& console, OutSink<T>& sink, const OnHeads<T>& on_heads) {
  const auto count = static_cast<double>(runs + 1);
  Progress progress(console, "run", operations_rate);
  double before = 0;  // runs that are done
  if (progress.shown()) {
    how.on_progress = [&](double share) {
      progress((before + share) / count, (before + share) * operations(problem.sizes));
    };
  }
  Buffer buffer;
  how.buffer = &buffer;
  Timed<T> timed;
  timed.result = attend_in_one_pass<T>(problem, kernel, how, std::ref(sink), on_heads);
  for (std::size_t run = 0; run < runs; ++run) {
    before += 1;
    const auto start = Clock::now();
    attend_in_one_pass<T>(problem, kernel, how, [](std::span<const T>) {});
    timed.seconds.push_back(seconds_since(start));
  }
  std::ranges::sort(timed.seconds);
  return timed;
}

std::size_t count_stdout(const RunOptions& options) {
  std::size_t count = 0;
  for (const std::string* path :
       {&options.output, &options.lse, &options.present_k, &options.present_v})
    count += *path == "-" ? 1 : 0;
  return count;
}

std::string out_json(const RunOptions& options, const Request& request, const Sizes& sizes,
                     DType dtype, const Stats& stats, const std::vector<StageShape>& shapes,
                     const std::string& engine, const std::optional<FastReport>& fast) {
  StageRow row{.id = "out",
               .is = shapes.back().is,
               .shape = shapes.back().shape,
               .dims = shapes.back().dims,
               .dtype = dtype};
  row.stats = stats;
  row.bytes = static_cast<double>(element_count(row.shape) * size_of(dtype));
  return run_json({headline(request, sizes), config_entries(request, sizes), {row}, {}},
                  options.output, engine, fast);
}

/// The kernel of the options that were given.
template <class T>
const Kernel& kernel_for(const RunOptions& options, const Request& request, const Sizes& sizes) {
  if (!options.fast) return choose_kernel<T>(options.kernel, sizes, request.settings);
  require_fast_alone(options.kernel, options.isa, request, sizes);
  return choose_fast_kernel(*options.fast, sizes, request.settings);
}

template <class T>
int run_in(const RunOptions& options, const Request& request, const Sizes& sizes,
           Clock::time_point started) {
  const std::vector<StageShape> shapes = stage_shapes(request.inputs, request.settings, sizes);
  const Kernel& kernel = kernel_for<T>(options, request, sizes);
  const Isa isa = choose_isa(options.isa);
  const std::size_t runs =
      options.time.empty() ? 0 : static_cast<std::size_t>(parse_integer(options.time, "--time", 1));
  KernelRun how{.wants_lse = !options.lse.empty(), .threads = request.threads, .isa = isa};
  const Reading reading = kernel.by_isa || options.fast ? Reading::as_stored : Reading::as_tensors;
  const bool streamed = !options.output.empty();
  require_memory(
      one_pass_memory(
          run_tensors(shapes, request, sizes, reading, streamed), sizes, request.settings,
          sizeof(T), [&](const Sizes&) -> const Kernel& { return kernel; }, how),
      request, sizes);
  how.threads = use_threads(request, sizes);

  const Problem<T> problem = make_problem<T>(request.inputs, request.settings, reading);
  for (const std::string& text : problem.notes) note(options.console, text);
  TimeReport times;
  times.read_s = seconds_since(started);

  const bool stdout_taken = count_stdout(options) > 0;
  const bool reports = options.console.json && runs == 0 && !stdout_taken;
  const bool prints = options.output.empty() && runs == 0 && !reports && !stdout_taken;
  const Arithmetic arithmetic = request.settings.arithmetic;
  OutSink<T> sink(options.output, shapes.back().shape, arithmetic, reports, prints);
  std::optional<FastCheck<T>> check;
  if (options.fast) check.emplace(sizes);
  const Timed<T> timed = compute(problem, kernel, how, runs, options.console, sink,
                                 check ? check->on_heads() : OnHeads<T>());
  std::optional<FastReport> accuracy;
  if (check) accuracy = check->report(problem, timed.result.views, how.threads);
  if (accuracy) note(options.console, fast_text(*accuracy));

  const auto write_started = Clock::now();
  sink.commit();
  if (!options.lse.empty()) {
    Shape shape = timed.result.lse.shape();  // (B,H,L) without the axes that the input did not have
    if (!sizes.has_heads) shape.erase(shape.begin() + 1);
    if (!sizes.has_batch) shape.erase(shape.begin());
    write_npy(options.lse, reshaped(as_array(timed.result.lse), shape));
  }
  const auto cache = [&](const Array& view) { return as_array(as_rank<T, 4>(view), arithmetic); };
  const HeadViews& views = timed.result.views;
  if (!options.present_k.empty()) write_cache(options.present_k, cache(views.k), sizes);
  if (!options.present_v.empty()) write_cache(options.present_v, cache(views.v), sizes);
  times.write_s = sink.seconds() + seconds_since(write_started);

  if (runs > 0) {
    times.compute_min_s = timed.seconds.front();
    const std::size_t half = timed.seconds.size() / 2;
    times.compute_median_s = timed.seconds.size() % 2 == 1
                                 ? timed.seconds[half]
                                 : (timed.seconds[half - 1] + timed.seconds[half]) / 2;
    times.runs = runs;
    times.gflops = operations(sizes) / times.compute_min_s / 1e9;
    times.threads = how.threads;
    times.engine = engine_name(kernel, isa);
    times.fast = accuracy;
    const std::string text = options.console.json ? time_json(times) : time_text(times);
    if (stdout_taken) {
      std::fwrite(text.data(), 1, text.size(), stderr);
    } else {
      print(text);
    }
  } else if (reports) {
    print(out_json(options, request, sizes, dtype_of(arithmetic, dtype_of<T>()), sink.stats(),
                   shapes, engine_name(kernel, isa), accuracy));
  } else if (prints) {
    print(numpy_text(sink.out()) + "\n");
  }
  return done;
}

/// "auto, tiled or reference", for the help.
std::string kernel_names() {
  std::vector<std::string> names = {"auto"};
  for (const Kernel& kernel : kernel_list()) names.emplace_back(kernel.name);
  return listed(names, "or");
}

int run_run(const RunOptions& options) {
  const auto started = Clock::now();
  text_style(options.console);
  if (count_stdout(options) > 1) {
    throw Error(Complaint{.what = "several outputs to standard output",
                          .where = "-o, --lse, --present-k, --present-v",
                          .expected = "one - at most"});
  }
  const Request request = read_request(options.common);
  for (const std::string& text : request.notes) note(options.console, text);
  const Sizes sizes = find_sizes(request.inputs, request.settings);
  if (request.compute == Compute::f64) return run_in<double>(options, request, sizes, started);
  return run_in<float>(options, request, sizes, started);
}

}  // namespace

Action add_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  add_common_options(app, options->common);
  app.add_option("-o,--output", options->output, "Write out as .npy; - is standard output")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--lse", options->lse, "Write the natural log-sum-exp of masked, (B,H,L)")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--present-k", options->present_k, "Write the grown cache of keys, (B,G,S,D)")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--present-v", options->present_v, "Write the grown cache of values")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--time", options->time,
                 "Compute N times after a warm-up and report seconds and GFLOP/s")
      ->type_name("N")
      ->group("Output");
  app.add_option("--kernel", options->kernel,
                 "Which kernel computes: " + kernel_names() + " (auto)")
      ->type_name("NAME")
      ->group("Resources");
  app.add_option("--isa", options->isa,
                 "Instructions it uses: auto, avx512, avx2 or baseline (auto)")
      ->type_name("NAME")
      ->group("Resources");
  app.add_option("--fast", options->fast,
                 "Products in matrix units (AMX), of numbers rounded to bfloat16")
      ->type_name("bf16")
      ->group("Resources");
  add_console_options(app, options->console);
  return [options] { return run_run(*options); };
}

}  // namespace qkv::cli
