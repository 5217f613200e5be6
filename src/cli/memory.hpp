// Memory and threads: an estimate before any work, and an error that names the tensor that does not
// fit.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/common_options.hpp"
#include "qkv/attention/sizes.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/kernels/kernel.hpp"

namespace qkv::cli {

/// Bytes that are held at once by a problem of other sizes.
using BytesAt = std::function<double(const Sizes&)>;

struct MemoryEstimate {
  double bytes = 0;          ///< of everything held at once
  std::string largest = {};  ///< the stage that takes most
  double largest_bytes = 0;
  Shape largest_shape = {};
  std::vector<std::string> largest_dims = {};
  BytesAt bytes_at = {};
};

/// True for stages of L·S numbers, which run does not hold.
bool grows_as_square(const StageShape& stage);

/// The stages, and with a cache the keys and values of old and new together.
std::vector<StageShape> held_tensors(std::vector<StageShape> stages, const Sizes& sizes);

/// What run holds of them: not what it reads where it lies, and of out, where that is written as it
/// comes, only what comes at once.
std::vector<StageShape> run_tensors(std::vector<StageShape> stages, const Request& request,
                                    const Sizes& sizes, Reading reading, bool streamed);

/// Bytes of one stage if B, L, S and P were those of `sizes`.
double stage_bytes(const StageShape& stage, const Sizes& sizes, std::size_t element_size);

/// Bytes of all stages when each is held, as trace does.
MemoryEstimate stage_memory(const std::vector<StageShape>& stages, const Sizes& sizes,
                            std::size_t element_size);

/// Bytes by which trace holds an element: stages in half precision lie in float, and in their own
/// two bytes for what is printed and written.
std::size_t held_size(Compute compute);

/// The kernel that would compute a problem of these sizes.
using KernelAt = std::function<const Kernel&(const Sizes&)>;

/// Bytes of all stages but those of L·S numbers, and of what the kernel works in, as run does.
MemoryEstimate one_pass_memory(const std::vector<StageShape>& stages, const Sizes& sizes,
                               const Settings& settings, std::size_t element_size,
                               const KernelAt& kernel_at, const KernelRun& how);

/// The same problem with `length` keys: of as many queries where both were equally many and there
/// is no cache, else of the same queries.
Sizes with_length(Sizes sizes, std::size_t length);

/// True where with_length() changes the queries too.
bool lengths_go_together(const Sizes& sizes);

/// The largest batch, and the largest length in the sense of with_length(), that `limit` bytes
/// hold; 0 where none does, at most 2^30.
std::size_t largest_batch(const BytesAt& bytes_at, const Sizes& sizes, double limit);
std::size_t largest_length(const BytesAt& bytes_at, const Sizes& sizes, double limit);

/// throws  Error naming the largest tensor, its size, and the batch or length that would fit
void require_memory(const MemoryEstimate& estimate, const Request& request, const Sizes& sizes);

/// Lets matrix products use the threads that were asked for, where the problem is worth starting
/// them. `further` are floating-point operations beside those of attention.
std::size_t use_threads(const Request& request, const Sizes& sizes, double further = 0);

/// 4·B·H·L·S·D multiply-adds counted as two operations each, visible or not: q·kᵀ and attn·v.
double operations(const Sizes& sizes);

}  // namespace qkv::cli
