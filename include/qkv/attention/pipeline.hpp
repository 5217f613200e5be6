// attend(): softmax(q*k^T / sqrt(D) + mask) * v, one call a step, each result offered to one hook.
#pragma once

#include <functional>
#include <string_view>

#include "qkv/attention/problem.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// Called once per stage, in order, with the stage's id and its value: (B,H,L,·) for stages by
/// head, (B,1,L,·) for x, context, concat and out. What the hook leaves in `value` is what the next
/// step works on.
template <class T>
using OnStage = std::function<void(std::string_view stage, Tensor<T, 4>& value)>;

/// The hook with every stage rounded before it sees it; the hook itself for native arithmetic.
template <class T>
OnStage<T> rounding_stages(Arithmetic arithmetic, const OnStage<T>& on_stage);

/// What a caller keeps when it is done.
template <class T>
struct Attended {
  Tensor<T, 4> out = {};  ///< (B,1,L,E_out), or heads (B,H,L,Dv) where sizes.rank_four and no W_O
  Tensor<T, 4> present_k = {};  ///< (B,G,S,D), the cache with the new keys behind it
  Tensor<T, 4> present_v = {};  ///< (B,G,S,Dv)
};

/// The whole formula, every stage held while it is needed.
template <class T>
Attended<T> attend(const Problem<T>& problem, const OnStage<T>& on_stage = {});

/// What the product q*k^T works on: q (B,H,L,D) rotated, k (B,G,S,D) and v (B,G,S,Dv) with the
/// cache in front.
template <class T>
struct QueryKeyValue {
  Tensor<T, 4> q = {}, k = {}, v = {};
};

/// The steps before the scores: x, context, q, k, v, q_rope, k_rope.
template <class T>
QueryKeyValue<T> prepare(const Problem<T>& problem, const OnStage<T>& on_stage = {});

/// The steps after the weighted sum: heads, concat, out.
template <class T>
Tensor<T, 4> finish(const Problem<T>& problem, Tensor<T, 4> heads, const OnStage<T>& on_stage = {});

}  // namespace qkv
