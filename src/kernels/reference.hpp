// Kernel reference: the steps of the readable pipeline on blocks of queries, so that no (L,S)
// tensor is held.
#pragma once

#include "qkv/kernels/kernel.hpp"

namespace qkv {

/// Bytes of the logits of a block of queries, before and after a step, as reference() holds them.
double reference_workspace(const Sizes& sizes, const Settings& settings, std::size_t element_size,
                           const KernelRun& run);

/// heads and lse of one problem, one head and a few queries at a time; holds at most about 2^20
/// logits per step.
///
/// shape   q (B,H,L,D), k (B,G,S,D), v (B,G,S,Dv) -> heads (B,H,L,Dv), lse (B,H,L)
template <class T>
KernelOutput<T> reference(const Problem<T>& problem, const HeadViews& views, const KernelRun& run);

}  // namespace qkv
