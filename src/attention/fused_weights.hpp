// Fused weights: one matrix that makes q, k and v together.
#pragma once

#include "qkv/attention/problem.hpp"

namespace qkv {

/// Sets problem.query, key and value from the columns (in-out) or rows (out-in) of a fused weight
/// and its bias.
///
/// blocks     q (H*D) | k (G*D) | v (G*D)
/// per-head   for each head q (D), k (D), v (D); needs G = H
/// per-group  for each key/value head its H/G query heads (D each), then k (D), v (D)
template <class T>
void split_fused(const Linear<T>& fused, const Sizes& sizes, QkvOrder order, Problem<T>& problem);

}  // namespace qkv
