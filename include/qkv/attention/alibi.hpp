// ALiBi: biases that grow with the distance between query and key, one slope a head.
#pragma once

#include <cstddef>
#include <vector>

namespace qkv {

/// slope[h] = 2^(-8(h+1)/n) for the first n heads, n the greatest power of two up to H, and
/// 2^(-4(2(h-n)+1)/n) for those behind them. The bias of key j for query i at position p is
/// -slope[h] * |p - j|.
///
/// shape   (H), 1/token
/// source  Press et al. 2021 (arXiv:2108.12409), get_slopes
std::vector<double> alibi_slopes(std::size_t H);

}  // namespace qkv
