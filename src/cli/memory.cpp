// Memory and threads: an estimate before any work.
#include "cli/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/report/plan_report.hpp"
#include "qkv/tensor/matmul.hpp"

namespace qkv::cli {

namespace {

/// As many as make the estimate's own arithmetic exact, and no index overflow.
constexpr double most_elements = 0x1p50;
constexpr std::size_t most = plan_searched_to;

/// The size of an axis if B, L, S and P were those of `sizes`.
double axis_size(const StageShape& stage, std::size_t axis, const Sizes& sizes) {
  const std::string& symbol = stage.dims[axis];
  const std::size_t size = symbol == "B"     ? sizes.B
                           : symbol == "L"   ? sizes.L
                           : symbol == "S"   ? sizes.S
                           : symbol == "S-P" ? sizes.new_keys()
                                             : stage.shape[axis];
  return static_cast<double>(size);
}

double all_bytes(const std::vector<StageShape>& stages, const Sizes& sizes,
                 std::size_t element_size, bool squares) {
  double bytes = 0;
  for (const StageShape& stage : stages) {
    if (squares || !grows_as_square(stage)) bytes += stage_bytes(stage, sizes, element_size);
  }
  return bytes;
}

void find_largest(MemoryEstimate& estimate, const std::vector<StageShape>& stages,
                  const Sizes& sizes, std::size_t element_size, bool squares) {
  for (const StageShape& stage : stages) {
    if (!squares && grows_as_square(stage)) continue;
    const double bytes = stage_bytes(stage, sizes, element_size);
    if (bytes <= estimate.largest_bytes) continue;
    estimate.largest = stage.id;
    estimate.largest_bytes = bytes;
    estimate.largest_shape = stage.shape;
    estimate.largest_dims = stage.dims;
  }
}

/// The greatest n up to `most` that fits, if all below it do.
std::size_t largest_that(const std::function<bool(std::size_t)>& fits) {
  if (!fits(1)) return 0;
  std::size_t good = 1;
  while (good < most && fits(2 * good)) good *= 2;
  if (good >= most) return most;
  std::size_t bad = 2 * good;
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

/// What would fit: fewer batch rows, or a shorter sequence.
std::string fitting(const MemoryEstimate& estimate, double limit, const Sizes& sizes) {
  std::vector<std::string> ways;
  const std::size_t batch = largest_batch(estimate.bytes_at, sizes, limit);
  if (batch >= 1) ways.push_back(fmt::format("a batch of {}", batch));
  const std::size_t length = largest_length(estimate.bytes_at, sizes, limit);
  if (length >= 1) {
    ways.push_back(lengths_go_together(sizes) ? fmt::format("a length of {}", length)
                                              : fmt::format("a length S of {}", length));
  }
  std::string hint = ways.empty() ? "" : listed(ways, "or") + " would fit";
  const bool square = !estimate.largest_dims.empty() && estimate.largest_dims.back() == "S";
  if (square) hint += std::string(hint.empty() ? "" : "; ") + "qkv run holds no (L,S) tensor";
  return hint;
}

}  // namespace

bool grows_as_square(const StageShape& stage) {
  return stage.dims.size() >= 2 && stage.dims.back() == "S";
}

std::vector<StageShape> held_tensors(std::vector<StageShape> stages, const Sizes& sizes) {
  if (sizes.P == 0) return stages;
  stages.push_back({"present_k",
                    "past and new keys",
                    {sizes.B, sizes.G, sizes.S, sizes.D},
                    {"B", "G", "S", "D"}});
  stages.push_back({"present_v",
                    "past and new values",
                    {sizes.B, sizes.G, sizes.S, sizes.Dv},
                    {"B", "G", "S", "Dv"}});
  return stages;
}

std::vector<StageShape> run_tensors(std::vector<StageShape> stages, const Request& request,
                                    const Sizes& sizes, Reading reading, bool streamed) {
  const auto lies_in_file = [&](const std::string& id) {
    if (reading == Reading::as_tensors) return false;
    if (id == "x" || id == "context") return true;
    const std::optional<NamedArray>& input = id == "q"   ? request.inputs.q
                                             : id == "k" ? request.inputs.k
                                                         : request.inputs.v;
    if ((id != "q" && id != "k" && id != "v") || sizes.projects) return false;
    return input && size_of(input->array.dtype) <= sizeof(float) && is_float(input->array.dtype);
  };
  const auto is_output = [](const std::string& id) {
    return id == "heads" || id == "concat" || id == "out";
  };
  std::erase_if(stages, [&](const StageShape& stage) {
    return lies_in_file(stage.id) || (streamed && is_output(stage.id)) || stage.id == "concat";
  });
  return held_tensors(std::move(stages), sizes);
}

double stage_bytes(const StageShape& stage, const Sizes& sizes, std::size_t element_size) {
  double bytes = static_cast<double>(element_size);
  bool has_batch = false;
  for (std::size_t axis = 0; axis < stage.shape.size(); ++axis) {
    bytes *= axis_size(stage, axis, sizes);
    has_batch = has_batch || stage.dims[axis] == "B";
  }
  return has_batch ? bytes : bytes * static_cast<double>(sizes.B);
}

std::size_t held_size(Compute compute) {
  const std::size_t size = element_size(compute);
  return size < sizeof(float) ? sizeof(float) + size : size;
}

MemoryEstimate stage_memory(const std::vector<StageShape>& stages, const Sizes& sizes,
                            std::size_t element_size) {
  MemoryEstimate estimate;
  estimate.bytes_at = [=](const Sizes& other) {
    return all_bytes(stages, other, element_size, true);
  };
  estimate.bytes = estimate.bytes_at(sizes);
  find_largest(estimate, stages, sizes, element_size, true);
  return estimate;
}

MemoryEstimate one_pass_memory(const std::vector<StageShape>& stages, const Sizes& sizes,
                               const Settings& settings, std::size_t element_size,
                               const KernelAt& kernel_at, const KernelRun& how) {
  MemoryEstimate estimate;
  estimate.bytes_at = [=](const Sizes& other) {
    double bytes = all_bytes(stages, other, element_size, false);
    if (how.wants_lse) bytes += static_cast<double>(other.B * other.H * other.L * element_size);
    return bytes + kernel_at(other).workspace(other, settings, element_size, how);
  };
  estimate.bytes = estimate.bytes_at(sizes);
  find_largest(estimate, stages, sizes, element_size, false);
  const Kernel& kernel = kernel_at(sizes);
  const double working = kernel.workspace(sizes, settings, element_size, how);
  if (working > estimate.largest_bytes) {
    estimate.largest = fmt::format("what the kernel {} works in", kernel.name);
    estimate.largest_bytes = working;
    estimate.largest_shape = {};
    estimate.largest_dims = {};
  }
  return estimate;
}

bool lengths_go_together(const Sizes& sizes) { return sizes.P == 0 && sizes.L == sizes.S; }

Sizes with_length(Sizes sizes, std::size_t length) {
  if (lengths_go_together(sizes)) {
    sizes.L = length;
  } else if (sizes.P > 0) {
    const std::size_t added = sizes.new_keys();
    sizes.P = length > added ? length - added : 0;
  }
  sizes.S = length;
  return sizes;
}

namespace {

/// True where the sizes are such that every index is, and the bytes are no more than the limit.
bool holds(const BytesAt& bytes_at, const Sizes& sizes, double limit) {
  double rows = 1;
  for (const std::size_t axis : {sizes.B, sizes.H, std::max(sizes.L, sizes.S)})
    rows *= static_cast<double>(axis);
  return rows * static_cast<double>(std::max(sizes.D, sizes.Dv)) <= most_elements &&
         bytes_at(sizes) <= limit;
}

}  // namespace

std::size_t largest_batch(const BytesAt& bytes_at, const Sizes& sizes, double limit) {
  return largest_that([&](std::size_t batch) {
    Sizes other = sizes;
    other.B = batch;
    return holds(bytes_at, other, limit);
  });
}

std::size_t largest_length(const BytesAt& bytes_at, const Sizes& sizes, double limit) {
  return largest_that(
      [&](std::size_t length) { return holds(bytes_at, with_length(sizes, length), limit); });
}

void require_memory(const MemoryEstimate& estimate, const Request& request, const Sizes& sizes) {
  const double limit = request.memory_limit;
  if (limit <= 0 && !request.memory_limit_given) return;
  if (estimate.bytes <= limit) return;
  const std::string tensor =
      estimate.largest_shape.empty()
          ? estimate.largest
          : fmt::format("{} {} = {}", estimate.largest, shape_text(estimate.largest_shape),
                        fmt::join(estimate.largest_dims, ","));
  throw Error(Complaint{
      .what = "not enough memory",
      .where = tensor,
      .expected =
          fmt::format("at most {} ({})", bytes_text(limit),
                      request.memory_limit_given ? "--memory-limit" : "80 % of what is free"),
      .got = fmt::format("{} for {}, {} in all", bytes_text(estimate.largest_bytes),
                         estimate.largest_shape.empty() ? "it alone" : "this stage",
                         bytes_text(estimate.bytes)),
      .hint = fitting(estimate, limit, sizes)});
}

double operations(const Sizes& sizes) {
  return 2.0 * static_cast<double>(sizes.B) * static_cast<double>(sizes.H) *
         static_cast<double>(sizes.L) * static_cast<double>(sizes.S) *
         static_cast<double>(sizes.D + sizes.Dv);
}

std::size_t use_threads(const Request& request, const Sizes& sizes, double further) {
  // Starting a thread costs some 30 µs: a problem of a few million operations is over before it
  // would help.
  constexpr double worth_threads = 2e7;
  const double projections =
      sizes.projects ? 2.0 * static_cast<double>(sizes.B * (sizes.L + sizes.S)) *
                           static_cast<double>(sizes.E) * static_cast<double>(sizes.H * sizes.D)
                     : 0;
  const std::size_t threads =
      operations(sizes) + projections + further > worth_threads ? request.threads : 1;
  set_blas_threads(threads);
  return threads;
}

}  // namespace qkv::cli
