// Stages norm1 and norm2: the gain and bias that a norm has learned.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// What a norm has learned; empty: ones, and zeros.
template <class T>
struct NormWeights {
  Tensor<T, 1> gain = {};  ///< (E)
  Tensor<T, 1> bias = {};  ///< (E)
};

/// z[b,l,e] = y[b,l,e] * gain[e] + bias[e]
///
/// shape   y (B,L,E) -> z (B,L,E); y itself where there is neither gain nor bias
template <class T>
Tensor<T, 3> with_gain(const Tensor<T, 3>& y, const NormWeights<T>& weights);

}  // namespace qkv
