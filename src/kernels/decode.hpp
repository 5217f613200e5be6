// Kernel decode: few queries against many keys, k and v read once at the speed of memory.
#pragma once

#include "qkv/kernels/kernel.hpp"

namespace qkv {

/// True where the queries that share a kv head, those of all its heads, are few.
bool decode_supports(const Sizes& sizes, const Settings& settings);

/// Bytes of the threads' rooms and of what each chunk found, as decode() allocates them.
double decode_workspace(const Sizes& sizes, const Settings& settings, std::size_t element_size,
                        const KernelRun& run);

/// heads and lse; the keys are cut into chunks for the threads, each chunk is read once for all
/// rows that share it, and what the chunks found is merged by its log-sum-exp.
///
/// shape   q (B,H,L,D), k (B,G,S,D), v (B,G,S,Dv) -> heads (B,H,L,Dv), lse (B,H,L)
/// edge    NaN and Inf in any input come out as they do of the reference
/// source  Milakov & Gimelshein 2018 (arXiv:1805.02867), section 3.1 (the merge is associative)
KernelOutput<float> decode(const Problem<float>& problem, const HeadViews& views,
                           const KernelRun& run);

}  // namespace qkv
