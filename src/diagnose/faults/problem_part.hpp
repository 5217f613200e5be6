// A few queries of one batch row of a problem, with all their keys.
#pragma once

#include "qkv/attention/problem.hpp"

namespace qkv {

/// Rows [first, first+count) of axis 2 of batch row b; axes of length 1 stand for all.
///
/// shape   (B,H,L,D) -> (1,H,count,D)
Tensor<double, 4> part_of_rows(const Tensor<double, 4>& x, std::size_t b, std::size_t first,
                               std::size_t count);

/// shape   (B or 1, L) -> (1,count)
Tensor<double, 2> part_of_positions(const Tensor<double, 2>& positions, std::size_t b,
                                    std::size_t first, std::size_t count);

/// The problem of queries [first, first+count) of batch row b alone, from q, k and v of the whole
/// (before the rotation, the new keys).
Problem<double> part_of_problem(const Problem<double>& whole, const Tensor<double, 4>& q,
                                const Tensor<double, 4>& k, const Tensor<double, 4>& v,
                                std::size_t b, std::size_t first, std::size_t count);

}  // namespace qkv
