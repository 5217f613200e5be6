// Reports: what a command found, as plain data; report/<form>.cpp renders it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "qkv/checks/check.hpp"
#include "qkv/checks/head_statistics.hpp"
#include "qkv/tensor/array.hpp"
#include "qkv/tensor/compare.hpp"
#include "qkv/tensor/stats.hpp"

namespace qkv {

/// A value of the configuration, in the words of the command line.
struct ConfigEntry {
  enum class Kind { text, number, flag } kind = Kind::text;
  std::string key;  ///< "causal-align", "heads", "B"
  std::string text = {};
  double number = 0;
  bool flag = false;
};

struct StageRow {
  std::string id;
  std::string is;  ///< formula: "softmax(scaled)"
  Shape shape;
  std::vector<std::string> dims;  ///< symbol per axis
  DType dtype = DType::float32;
  Stats stats = {};
  double bytes = 0;
  Array values = {};  ///< for --print; shares the stage's elements; data is null where not held
};

struct TraceReport {
  std::string
      headline;  ///< "self-attention   B=2 L=4 S=4 E=8   H=1 D=4 Dv=8   scale 1/√4   mask none f32"
  std::vector<ConfigEntry> config;
  std::vector<StageRow> stages;
  std::vector<CheckResult> checks;
  std::vector<HeadStatistics> heads = {};  ///< of attn, where it was looked at
};

Status worst_status(
    const std::vector<CheckResult>& checks);  ///< pass, warn or fail; skips count as pass

/// How text output may look.
struct TextStyle {
  bool colour = false;
  bool unicode = true;  ///< "·", "√", "ᵀ"; otherwise *, sqrt, ^T
};

/// How values are printed, NumPy's set_printoptions.
struct PrintOptions {
  int precision = 8;             ///< most digits after the point
  std::size_t threshold = 1000;  ///< more elements than this are summarised with "..."
  std::size_t edge_items = 3;
  std::size_t line_width = 75;
};

/// A tensor as NumPy 1.24's print shows it, str(array), without a final newline.
///
/// edge    rank 0 is shown as a scalar, which `precision` does not cut; no elements are "[]"
///         whatever the shape; bfloat16, which NumPy lacks, is laid out like float16, each number
///         with the fewest digits that round to it
std::string numpy_text(const Array& array, const PrintOptions& options = {});

/// Headline, a row per stage and a line per check; a check's value and limit follow its message
/// unless that says them.
std::string trace_text(const TraceReport& report, const TextStyle& style);
std::string trace_json(const TraceReport& report);  ///< schema qkv.trace/1

/// The same for tensors from elsewhere: qkv check. Where there is no stage, there is no table.
std::string check_text(const TraceReport& report, const TextStyle& style);
std::string check_json(const TraceReport& report);  ///< schema qkv.check/1

/// The chain of shapes alone, no values: qkv trace --shapes.
std::string shapes_text(const TraceReport& report, const TextStyle& style);
std::string shapes_json(const TraceReport& report);  ///< schema qkv.shapes/1

/// What run --fast differs by from float32, in rows of heads that were computed again.
struct FastReport {
  double rms_error = 0;  ///< root mean square of the differences, relative to that of the rows
  double max_error = 0;  ///< greatest difference
  std::size_t rows = 0;
};
std::string fast_text(const FastReport& report);  ///< for a note, without a newline

/// What run --json prints where no tensor goes to standard output: schema qkv.run/1. `output` is
/// the file written, or "".
std::string run_json(const TraceReport& report, const std::string& output,
                     const std::string& engine, const std::optional<FastReport>& fast = {});

struct StatsRow {
  std::string name;  ///< as the user wrote it
  Shape shape;
  DType dtype = DType::float32;
  std::string order;  ///< "C", "F" or "strided"; ">" in front where the file is big-endian
  Stats stats = {};
  std::vector<std::size_t> histogram = {};  ///< histogram_of() the tensor, only with --hist
};
std::string stats_text(const std::vector<StatsRow>& rows, const TextStyle& style);
std::string stats_json(const std::vector<StatsRow>& rows);  ///< schema qkv.stats/1

struct DiffReport {
  std::string a, b;  ///< the names of the two files
  Shape shape;
  DType dtype_a = DType::float32, dtype_b = DType::float32;
  Tolerance tolerance = {};
  Comparison comparison = {};
  double value_a = 0, value_b = 0;  ///< the elements at comparison.max_abs_at
  double first_a = 0, first_b = 0;  ///< those at comparison.first_at
};
std::string diff_text(const DiffReport& report, const TextStyle& style);
std::string diff_json(const DiffReport& report);  ///< schema qkv.diff/1

struct TimeReport {
  double read_s = 0, compute_min_s = 0, compute_median_s = 0, write_s = 0, gflops = 0;
  std::size_t runs = 0, threads = 0;
  std::string engine;  ///< the kernel's name
  std::optional<FastReport> fast = {};
};
std::string time_text(const TimeReport& report);
std::string time_json(const TimeReport& report);  ///< schema qkv.time/1

}  // namespace qkv
