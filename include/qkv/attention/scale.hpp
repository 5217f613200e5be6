// Stage scaled: scores brought back to a variance of about 1.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// scaled[b,h,l,s] = scores[b,h,l,s] * factor, factor = 1/sqrt(D) unless the user says otherwise.
///
/// shape   (B,H,L,S) -> (B,H,L,S)
/// source  Vaswani et al. 2017 (arXiv:1706.03762), section 3.2.1
template <class T>
Tensor<T, 4> scale(const Tensor<T, 4>& scores, double factor, std::size_t threads = 1);

}  // namespace qkv
