// Memory and threads: an estimate before any work.
#include "cli/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"
#include "qkv/tensor/matmul.hpp"

namespace qkv::cli {

namespace {

double bytes_of(const Shape& shape, std::size_t element_size) {
  double bytes = static_cast<double>(element_size);
  for (const std::size_t axis : shape) bytes *= static_cast<double>(axis);
  return bytes;
}

bool grows_as_square(const StageShape& stage) {
  return stage.dims.size() >= 2 && stage.dims.back() == "S";
}

void add(MemoryEstimate& estimate, const StageShape& stage, std::size_t element_size) {
  const double bytes = bytes_of(stage.shape, element_size);
  estimate.bytes += bytes;
  if (bytes > estimate.largest_bytes) {
    estimate.largest = stage.id;
    estimate.largest_bytes = bytes;
    estimate.largest_shape = stage.shape;
    estimate.largest_dims = stage.dims;
  }
}

/// What would fit: fewer batch rows, or a shorter sequence where (L,S) tensors are what is large.
std::string fitting(const MemoryEstimate& estimate, double limit, const Sizes& sizes) {
  const double share = limit / estimate.bytes;
  std::vector<std::string> ways;
  const auto batch = static_cast<std::size_t>(share * static_cast<double>(sizes.B));
  if (batch >= 1) ways.push_back(fmt::format("a batch of {}", batch));
  const bool square = !estimate.largest_dims.empty() && estimate.largest_dims.back() == "S";
  const double length = static_cast<double>(sizes.L) * (square ? std::sqrt(share) : share);
  if (length >= 1)
    ways.push_back(fmt::format("a length of about {}", static_cast<std::size_t>(length)));
  std::string hint = ways.empty() ? "" : listed(ways, "or") + " would fit";
  if (square) hint += std::string(hint.empty() ? "" : "; ") + "qkv run holds no (L,S) tensor";
  return hint;
}

}  // namespace

MemoryEstimate stage_memory(const std::vector<StageShape>& stages, std::size_t element_size) {
  MemoryEstimate estimate;
  for (const StageShape& stage : stages) add(estimate, stage, element_size);
  return estimate;
}

MemoryEstimate one_pass_memory(const std::vector<StageShape>& stages, std::size_t element_size) {
  constexpr double logits_per_block = 1 << 20;
  MemoryEstimate estimate;
  for (const StageShape& stage : stages) {
    if (!grows_as_square(stage)) {
      add(estimate, stage, element_size);
      continue;
    }
    // A block has at least one query, and all its keys.
    const double block = std::max(static_cast<double>(stage.shape.back()), logits_per_block);
    estimate.bytes +=
        std::min(bytes_of(stage.shape, element_size), block * static_cast<double>(element_size));
  }
  return estimate;
}

void require_memory(const MemoryEstimate& estimate, const Request& request, const Sizes& sizes) {
  const double limit = request.memory_limit;
  if (limit <= 0 && !request.memory_limit_given) return;
  if (estimate.bytes <= limit) return;
  throw Error(Complaint{
      .what = "not enough memory",
      .where = fmt::format("{} {} = {}", estimate.largest, shape_text(estimate.largest_shape),
                           fmt::join(estimate.largest_dims, ",")),
      .expected =
          fmt::format("at most {} ({})", bytes_text(limit),
                      request.memory_limit_given ? "--memory-limit" : "80 % of what is free"),
      .got = fmt::format("{} for this stage, {} for all stages", bytes_text(estimate.largest_bytes),
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
