// Positions: what is added to the embedding of a token for the place where it stands.
#pragma once

#include <cstddef>

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// p[l,2i]   = sin(l / 10000^(2i/E))
/// p[l,2i+1] = cos(l / 10000^(2i/E))
///
/// shape   (L,E); where E is odd, the last channel is a sine without its cosine
/// range   [-1,1]
/// source  Vaswani et al. 2017 (arXiv:1706.03762), section 3.5
Tensor<double, 2> sinusoidal_positions(std::size_t L, std::size_t E);

}  // namespace qkv
