// Stage capped: logits bent smoothly into (-C, C).
#pragma once

#include "qkv/tensor/arithmetic.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// capped[b,h,l,s] = C * tanh(scaled[b,h,l,s] / C). Comes before the mask: capping after it would
/// lift -Inf to -C and let hidden keys through.
///
/// shape   (B,H,L,S) -> (B,H,L,S)
/// range   logits in [-C, C]
/// source  ONNX Attention-23, attribute softcap
template <class T>
Tensor<T, 4> softcap(const Tensor<T, 4>& scaled, double cap,
                     Arithmetic arithmetic = Arithmetic::native);

}  // namespace qkv
