// Columns of a fused weight: which channel of q, k or v each of them makes.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "qkv/diagnose/case.hpp"

namespace qkv {

struct FusedColumn {
  std::size_t part;     ///< 0 q, 1 k, 2 v
  std::size_t channel;  ///< h*D+d within the part
};

/// In the order in which the parts stand, q k v unless said otherwise: part by part (blocks), or
/// for each head or group of heads part by part.
std::vector<FusedColumn> fused_columns(const Sizes& sizes, QkvOrder order,
                                       const std::array<std::size_t, 3>& parts = {0, 1, 2});

/// The fused weight as the user gave it, without its bias.
Linear<double> fused_weight(const Case& the_case);

/// Sets the weights of q, k and v from a fused one; leaves the biases as they are.
void read_fused_weight(const Linear<double>& fused, const std::vector<FusedColumn>& columns,
                       Problem<double>& problem);

/// The problem as it becomes where columns that mean `meant` are read as `read`, biases with them
/// where the bias is fused too.
void reread_columns(const std::vector<FusedColumn>& meant, const std::vector<FusedColumn>& read,
                    bool with_bias, Problem<double>& problem);

}  // namespace qkv
