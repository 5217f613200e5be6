// block(): attention, residual, norm, feed-forward, residual, norm, one call a step.
#pragma once

#include "qkv/attention/pipeline.hpp"
#include "qkv/block/problem.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// What a caller keeps when it is done.
template <class T>
struct BlockResult {
  Tensor<T, 3> out = {};      ///< block_out, (B,L,E)
  Attended<T> attended = {};  ///< of the attention inside
  Problem<T> attention = {};  ///< the attention inside, its x what it worked on
  /// What norm1 and norm2 were made from, and their rows before gain and bias.
  Tensor<T, 3> norm1_in = {}, norm1_rows = {}, norm2_in = {}, norm2_rows = {};
};

///   post  norm1 = norm(x + attention(x)),  block_out = norm(norm1 + ff(norm1))
///   pre   res1 = x + attention(norm(x)),   block_out = res1 + ff(norm(res1))
///
/// The residual is x itself in both, never its norm. The hook sees, in order,
///   post  x, attention's stages to out, res1, norm1, ff1 ... ff2, res2, norm2, block_out
///   pre   x, norm1, attention's stages to out, res1, norm2, ff1 ... ff2, res2, block_out
///
/// shape   x (B,L,E) -> block_out (B,L,E)
/// source  Vaswani et al. 2017 (arXiv:1706.03762), section 3.1, for post; Xiong et al. 2020
///         (arXiv:2002.04745), table 1, for pre
template <class T>
BlockResult<T> block(const BlockProblem<T>& problem, const OnStage<T>& on_stage = {});

}  // namespace qkv
