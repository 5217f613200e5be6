// Stage dropped: weights set to 0 at random, as in training.
#pragma once

#include <cstdint>

#include "qkv/attention/visibility.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// True where the weight at this place is kept. A function of the seed and the place alone: blocks
/// of rows and any number of threads give the same pattern, on every machine.
bool kept(double p, std::uint64_t seed, std::uint64_t place);

/// dropped = attn / (1 - p) with probability 1 - p, else 0: the expected value is attn. p = 1 drops
/// everything.
///
/// shape   attn (B,H,L,S), or a block of its rows that begins at `origin` in one with H heads of L
///         queries
/// source  Srivastava et al. 2014, inverted; torch.nn.functional.dropout
template <class T>
Tensor<T, 4> dropout(const Tensor<T, 4>& attn, double p, std::uint64_t seed, std::size_t H,
                     std::size_t L, const Origin& origin = {});

}  // namespace qkv
