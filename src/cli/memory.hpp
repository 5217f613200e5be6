// Memory and threads: an estimate before any work, and an error that names the tensor that does not
// fit.
#pragma once

#include <string>
#include <vector>

#include "cli/common_options.hpp"
#include "qkv/attention/sizes.hpp"
#include "qkv/attention/stage_list.hpp"

namespace qkv::cli {

struct MemoryEstimate {
  double bytes = 0;          ///< of everything held at once
  std::string largest = {};  ///< the stage that takes most
  double largest_bytes = 0;
  Shape largest_shape = {};
  std::vector<std::string> largest_dims = {};
};

/// Bytes of all stages when each is held, as trace does.
MemoryEstimate stage_memory(const std::vector<StageShape>& stages, std::size_t element_size);

/// Bytes of q, k, v, heads and out, and of one block of logits per step, as run does.
MemoryEstimate one_pass_memory(const std::vector<StageShape>& stages, std::size_t element_size);

/// throws  Error naming the largest tensor, its size, and the batch or length that would fit
void require_memory(const MemoryEstimate& estimate, const Request& request, const Sizes& sizes);

/// Lets matrix products use the threads that were asked for, where the problem is worth starting
/// them. `further` are floating-point operations beside those of attention.
std::size_t use_threads(const Request& request, const Sizes& sizes, double further = 0);

/// 4·B·H·L·S·D multiply-adds counted as two operations each, visible or not: q·kᵀ and attn·v.
double operations(const Sizes& sizes);

}  // namespace qkv::cli
