// The cache: past keys and values stand before the new ones.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// y[b,g,s,:] = past[b,g,s,:] for s < P, then now[b,g,s-P,:]. Without a cache, `now` itself.
///
/// shape   past (B,G,P,D), now (B,G,S-P,D) -> (B,G,S,D)
/// source  ONNX Attention-23, present_key and present_value
template <class T>
Tensor<T, 4> append(const Tensor<T, 4>& past, const Tensor<T, 4>& now);

}  // namespace qkv
