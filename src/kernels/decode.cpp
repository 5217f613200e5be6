// Kernel decode: chunks of keys shared out to threads, then merged.
#include "decode.hpp"

#include <algorithm>
#include <vector>

#include "flatten.hpp"
#include "kernels/simd/choose.hpp"
#include "qkv/base/parallel.hpp"
#include "rooms.hpp"
#include "sinks.hpp"

namespace qkv {

namespace {

/// Rows of one kv head that share what is read.
constexpr std::size_t most_rows = 16;

struct Chunks {
  std::ptrdiff_t rows = 0;   ///< of each kv head
  std::ptrdiff_t keys = 0;   ///< of each chunk
  std::ptrdiff_t count = 0;  ///< of each kv head
};

Chunks chunks_of(const FlatProblem& p, const SimdFunctions& simd) {
  Chunks chunks;
  chunks.rows = p.H / p.G * p.L;
  // Long enough that a merge costs nothing, short enough that one head keeps all threads busy.
  chunks.keys = chunks.rows > 4 ? 512 : 1024;
  chunks.keys = (chunks.keys + simd.decode_keys - 1) / simd.decode_keys * simd.decode_keys;
  chunks.count = (p.S + chunks.keys - 1) / chunks.keys;
  return chunks;
}

/// The rows of the n-th kv head of the part.
RowBlock rows_of(const FlatProblem& p, const Part& part, const Chunks& chunks, std::size_t head) {
  const auto n = static_cast<std::ptrdiff_t>(head);
  const std::ptrdiff_t group = p.H / p.G;
  const auto kv_heads = static_cast<std::ptrdiff_t>(part.h_end - part.h) / group;
  const std::ptrdiff_t g = p.first_h / group + n % kv_heads;
  return {p.first_b + n / kv_heads, g, g * group, 0, chunks.rows};
}

/// Reading k and v is the work: a thread is worth its start from a few hundred kilobytes on.
std::size_t threads_for(const FlatProblem& p, std::size_t wanted) {
  constexpr double bytes_per_thread = 400e3;
  const double bytes = 4.0 * static_cast<double>(p.B * p.G * p.S) * static_cast<double>(p.D + p.Dv);
  const double most = std::max(bytes / bytes_per_thread, 1.0);
  return most < static_cast<double>(wanted) ? static_cast<std::size_t>(most) : wanted;
}

/// The rows of one kv head by the other kernel's inner part, which knows what to do about NaN and
/// Inf in v.
void compute_carefully(FlatProblem p, RowBlock block, const SimdFunctions& simd) {
  const std::vector<std::uint8_t> special(static_cast<std::size_t>(p.B * p.G), 1);
  p.special_v = special.data();
  const Rooms rooms(1, simd.tiled_room(p));
  const std::ptrdiff_t rows = block.rows;
  for (; block.first_row < rows; block.first_row += simd.row_block) {
    block.rows = std::min<std::ptrdiff_t>(simd.row_block, rows - block.first_row);
    simd.tiled_rows(p, block, block, rooms[0]);
  }
}

}  // namespace

bool decode_supports(const Sizes& sizes, const Settings& settings) {
  return is_flat(sizes) && !settings.dropout && sizes.H / sizes.G * sizes.L <= most_rows;
}

double decode_workspace(const Sizes& sizes, const Settings&, std::size_t, const KernelRun& run) {
  const FlatProblem flat = flat_sizes(sizes);
  const SimdFunctions& simd = simd_functions(run.isa);
  const Chunks chunks = chunks_of(flat, simd);
  const auto partials = static_cast<double>(flat.B * flat.G * chunks.count) *
                        static_cast<double>(chunks.rows * simd.partial_size(flat));
  return static_cast<double>(threads_for(flat, run.threads) * simd.decode_room(flat)) +
         partials * sizeof(float);
}

KernelOutput<float> decode(const Problem<float>& problem, const HeadViews& views,
                           const KernelRun& run) {
  Flattened flattened(problem, views, run);
  const FlatProblem& flat = flattened.flat;
  const Part& part = flattened.part;
  const SimdFunctions& simd = simd_functions(run.isa);
  const Chunks chunks = chunks_of(flat, simd);
  const std::size_t threads = threads_for(flat, run.threads);
  const std::size_t group = problem.sizes.H / problem.sizes.G;
  const std::size_t heads = (part.b_end - part.b) * (part.h_end - part.h) / group;
  const auto per_head = static_cast<std::size_t>(chunks.count);
  const auto partial = static_cast<std::size_t>(chunks.rows * simd.partial_size(flat));
  const Rooms rooms(threads, simd.decode_room(flat));
  auto partials = Tensor<float, 1>::make({heads * per_head * partial});

  // Chunk by chunk: whether v is finite where keys were skipped.
  std::vector<std::uint8_t> finite(heads * per_head, 0);
  parallel(
      threads, finite.size(),
      [&](std::size_t item, std::size_t thread) {
        const auto from = static_cast<std::ptrdiff_t>(item % per_head) * chunks.keys;
        float* found = partials.data() + item * partial;
        finite[item] = simd.decode_chunk(flat, rows_of(flat, part, chunks, item / per_head), from,
                                         std::min(from + chunks.keys, flat.S), found, rooms[thread])
                           ? 1
                           : 0;
      },
      run.on_progress);

  for (std::size_t head = 0; head < heads; ++head) {
    const auto first = finite.begin() + static_cast<std::ptrdiff_t>(head * per_head);
    const bool known = std::all_of(first, first + chunks.count, [](auto is) { return is != 0; });
    const float* found = partials.data() + head * per_head * partial;
    const RowBlock rows = rows_of(flat, part, chunks, head);
    if (!known || !simd.decode_merge(flat, rows, found, chunks.count, rooms[0]))
      compute_carefully(flat, rows, simd);
  }
  settle_sinks(problem, run, flattened.output);
  return flattened.output;
}

}  // namespace qkv
