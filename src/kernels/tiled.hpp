// Kernel tiled: queries in the lanes of a register, tiles of keys, online softmax.
#pragma once

#include "kernels/simd/functions.hpp"
#include "qkv/kernels/kernel.hpp"

namespace qkv {

/// True for every problem without an empty axis.
bool tiled_supports(const Sizes& sizes, const Settings& settings);

/// Bytes of the threads' rooms and of the list of blocks, as tiled() allocates them.
double tiled_workspace(const Sizes& sizes, const Settings& settings, std::size_t element_size,
                       const KernelRun& run);

/// heads and lse, with a few hundred kilobytes a thread beside them: no logits are kept. k and v
/// are read where they lie; tiles of keys that no query of a block sees are not computed.
///
/// shape   q (B,H,L,D), k (B,G,S,D), v (B,G,S,Dv) -> heads (B,H,L,Dv), lse (B,H,L)
/// edge    NaN and Inf in any input come out as they do of the reference
/// source  Milakov & Gimelshein 2018 (arXiv:1805.02867), Algorithm 3; Dao et al. 2022
///         (arXiv:2205.14135), Algorithm 1
KernelOutput<float> tiled(const Problem<float>& problem, const HeadViews& views,
                          const KernelRun& run);

/// The same by an inner part that is given; run.isa does not matter.
KernelOutput<float> tiled_with(const SimdFunctions& simd, const Problem<float>& problem,
                               const HeadViews& views, const KernelRun& run);
double tiled_workspace_with(const SimdFunctions& simd, const Sizes& sizes, const KernelRun& run);

}  // namespace qkv
