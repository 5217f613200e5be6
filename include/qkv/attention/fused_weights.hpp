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

/// The other way round: a fused weight (as `weight_order` stores it) or bias from its three parts.
template <class T>
Tensor<T, 2> join_fused(const Tensor<T, 2>& q, const Tensor<T, 2>& k, const Tensor<T, 2>& v,
                        const Sizes& sizes, QkvOrder order, WeightOrder weight_order);
template <class T>
Tensor<T, 1> join_fused(const Tensor<T, 1>& q, const Tensor<T, 1>& k, const Tensor<T, 1>& v,
                        const Sizes& sizes, QkvOrder order);

}  // namespace qkv
