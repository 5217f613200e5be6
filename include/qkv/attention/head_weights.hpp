// Head weights: a list of heads, each with projections of its own, as one multi-head projection.
#pragma once

#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/settings.hpp"

namespace qkv {

/// What each head has, in the order of the heads. A role is empty where it comes from elsewhere, or
/// where there is none.
struct HeadWeights {
  std::vector<NamedArray> wq = {}, wk = {}, wv = {};  ///< (E,D) or (D,E); wv with Dv for D
  std::vector<NamedArray> bq = {}, bk = {}, bv = {};  ///< (D), (Dv)

  bool any() const { return !wq.empty() || !wk.empty() || !wv.empty(); }
};

/// `inputs` with wq, wk and wv that have a shape and no elements yet: enough to find how the heads
/// are stored.
///
/// throws  Error: a head's weight is no matrix, or has another shape or type than the first head's
Inputs with_head_shapes(const HeadWeights& heads, Inputs inputs);

/// `inputs` with W_Q = [W_Q^0 | W_Q^1 | ...], and W_K, W_V and the biases likewise, so that head h
/// of multi-head attention is the h-th of the list.
///
/// shape   in-out: H matrices (E,D) -> (E,H*D), joined along their columns
///         out-in: H matrices (D,E) -> (H*D,E), joined along their rows
/// needs   inputs.x (and W_O), whose widths tell the order, and settings.heads = H
/// throws  Error as with_head_shapes(), or a head's bias does not fit the first head's
Inputs with_joined_heads(const HeadWeights& heads, const Inputs& inputs, const Settings& settings);

}  // namespace qkv
