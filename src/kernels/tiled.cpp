// Kernel tiled: blocks of queries shared out to threads.
#include "tiled.hpp"

#include <algorithm>
#include <vector>

#include "flatten.hpp"
#include "kernels/simd/choose.hpp"
#include "qkv/base/parallel.hpp"
#include "rooms.hpp"
#include "sinks.hpp"

namespace qkv {

namespace {

double operations(const FlatProblem& p) {
  return 2.0 * static_cast<double>(p.B * p.H * p.L) * static_cast<double>(p.S) *
         static_cast<double>(p.D + p.Dv);
}

/// Queries of each head in the part.
std::ptrdiff_t length(const Part& part) { return static_cast<std::ptrdiff_t>(part.l_end - part.l); }

/// How the rows are cut into blocks: `heads` query heads are one run of rows.
struct Cut {
  std::ptrdiff_t heads = 1;  ///< query heads whose rows lie behind each other
  std::ptrdiff_t rows_per_block = 1;
};

Cut cut_of(const FlatProblem& p, const Part& part, const SimdFunctions& simd, std::size_t threads) {
  Cut cut;
  // Heads that share k and v fill the lanes together where one alone would leave them empty.
  if (p.L < simd.lane_block) cut.heads = p.H / p.G;
  const std::ptrdiff_t rows = cut.heads * length(part);
  const auto runs =
      static_cast<std::ptrdiff_t>((part.b_end - part.b) * (part.h_end - part.h)) / cut.heads;
  // Rows that pass over k and v together, but four blocks for each thread, so that none waits long.
  cut.rows_per_block = simd.row_block;
  const auto wanted = static_cast<std::ptrdiff_t>(threads > 1 ? 4 * threads : 1);
  const auto blocks = [&] { return runs * ((rows + cut.rows_per_block - 1) / cut.rows_per_block); };
  while (cut.rows_per_block > simd.lane_block && blocks() < wanted)
    cut.rows_per_block -= simd.lane_block;
  // Few rows of few heads: a block for each thread, though its registers be fewer.
  if (runs > 0 && rows > 0 && blocks() < static_cast<std::ptrdiff_t>(threads)) {
    const std::ptrdiff_t per_run = (static_cast<std::ptrdiff_t>(threads) + runs - 1) / runs;
    const std::ptrdiff_t share = (rows + per_run - 1) / per_run;
    cut.rows_per_block = (share + simd.lanes - 1) / simd.lanes * simd.lanes;
  }
  // Wide heads: what the lanes hold of q and o stays in the second-level cache.
  constexpr std::ptrdiff_t cached_floats = 96 * 1024;
  while (cut.rows_per_block > simd.lane_block && cut.rows_per_block * (p.D + p.Dv) > cached_floats)
    cut.rows_per_block -= simd.lane_block;
  return cut;
}

/// Blocks of rows, those of one kv head behind each other so that k and v stay in the cache; the
/// last rows of a head first, because they see most under a causal mask.
std::vector<RowBlock> blocks_of(const FlatProblem& p, const Part& part, const Cut& cut) {
  std::vector<RowBlock> blocks;
  const std::ptrdiff_t rows = cut.heads * length(part), group = p.H / p.G;
  const std::ptrdiff_t count = (rows + cut.rows_per_block - 1) / cut.rows_per_block;
  for (auto b = p.first_b; b < static_cast<std::ptrdiff_t>(part.b_end); ++b) {
    for (auto h = p.first_h; h < static_cast<std::ptrdiff_t>(part.h_end); h += cut.heads) {
      for (std::ptrdiff_t n = count - 1; n >= 0; --n) {
        const std::ptrdiff_t first = n * cut.rows_per_block;
        blocks.push_back(
            {b, h / group, h, p.first_query + first, std::min(cut.rows_per_block, rows - first)});
      }
    }
  }
  return blocks;
}

/// Where keys may be skipped, v has to be looked through for what would have come out of them.
std::vector<std::uint8_t> special_heads(const FlatProblem& p, const SimdFunctions& simd,
                                        std::size_t threads) {
  if (!p.hides) return {};
  std::vector<std::uint8_t> special(static_cast<std::size_t>(p.B * p.G));
  parallel(threads, special.size(), [&](std::size_t item, std::size_t) {
    const auto n = static_cast<std::ptrdiff_t>(item);
    special[item] = simd.all_finite(p.v, n / p.G, n % p.G, 0, p.S, p.Dv) ? 0 : 1;
  });
  return special;
}

}  // namespace

bool tiled_supports(const Sizes& sizes, const Settings& settings) {
  return is_flat(sizes) && !settings.dropout;
}

double tiled_workspace(const Sizes& sizes, const Settings&, std::size_t, const KernelRun& run) {
  return tiled_workspace_with(simd_functions(run.isa), sizes, run);
}

double tiled_workspace_with(const SimdFunctions& simd, const Sizes& sizes, const KernelRun& run) {
  const FlatProblem flat = flat_sizes(sizes);
  const std::size_t threads = worthwhile_threads(run.threads, operations(flat));
  const Cut cut = cut_of(flat, run.part.value_or(whole(sizes)), simd, threads);
  const std::ptrdiff_t per_run = (cut.heads * flat.L + cut.rows_per_block - 1) / cut.rows_per_block;
  const auto blocks = static_cast<std::size_t>(flat.B * flat.H / cut.heads * per_run);
  return static_cast<double>(std::min(threads, blocks) * simd.tiled_room(flat)) +
         static_cast<double>(blocks * sizeof(RowBlock));
}

KernelOutput<float> tiled(const Problem<float>& problem, const HeadViews& views,
                          const KernelRun& run) {
  return tiled_with(simd_functions(run.isa), problem, views, run);
}

KernelOutput<float> tiled_with(const SimdFunctions& simd, const Problem<float>& problem,
                               const HeadViews& views, const KernelRun& run) {
  Flattened flattened(problem, views, run);
  FlatProblem& flat = flattened.flat;
  const std::size_t threads = worthwhile_threads(run.threads, operations(flat));

  const std::vector<std::uint8_t> special = special_heads(flat, simd, threads);
  if (!special.empty()) flat.special_v = special.data();
  const std::vector<RowBlock> blocks =
      blocks_of(flat, flattened.part, cut_of(flat, flattened.part, simd, threads));
  const Rooms rooms(std::min(threads, blocks.size()), simd.tiled_room(flat));
  parallel(
      threads, blocks.size(),
      [&](std::size_t item, std::size_t thread) {
        // The others take those between.
        const std::size_t next = std::min(item + threads, blocks.size() - 1);
        simd.tiled_rows(flat, blocks[item], blocks[next], rooms[thread]);
      },
      run.on_progress);
  settle_sinks(problem, run, flattened.output);
  return flattened.output;
}

}  // namespace qkv
