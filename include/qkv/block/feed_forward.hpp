// Stages ff1, ff_act, ff3, ff_gated and ff2: the feed-forward, each token for itself.
#pragma once

#include "qkv/attention/pipeline.hpp"
#include "qkv/attention/problem.hpp"
#include "qkv/block/settings.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

template <class T>
struct FeedForward {
  Linear<T> w1 = {};  ///< E -> F
  Linear<T> w3 = {};  ///< E -> F, the factor of a gated one; weight empty: not gated
  Linear<T> w2 = {};  ///< F -> E
  Activation activation = Activation::relu;
};

///   ff1 = x*W1 + b1,  ff_act = act(ff1),  ff2 = ff_act*W2 + b2
/// and gated
///   ff3 = x*W3,  ff_gated = ff_act*ff3 element by element,  ff2 = ff_gated*W2 + b2
///
/// The hook rounds the stages where the arithmetic asks for it (rounding_stages()).
///
/// shape   x (B,L,E) -> ff1, ff_act, ff3, ff_gated (B,L,F) -> ff2 (B,L,E); the hook sees (B,1,L,.)
/// source  Vaswani et al. 2017 (arXiv:1706.03762), equation 2; Shazeer 2020 (arXiv:2002.05202),
///         equation 6, for the gated one
template <class T>
Tensor<T, 3> feed_forward(const Tensor<T, 3>& x, const FeedForward<T>& weights,
                          const OnStage<T>& on_stage = {},
                          Arithmetic arithmetic = Arithmetic::native);

}  // namespace qkv
