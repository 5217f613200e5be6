// Tiles of a mask: masks whose rows are taken from other indices of batch, head and query.
#pragma once

#include <array>
#include <functional>

#include "diagnose/faults/rules.hpp"

namespace qkv::faults {

/// Which index (b,h,i) of the mask is used at (b,h,i) of the scores, and which of its sizes are
/// full.
struct Tiling {
  std::function<std::array<std::size_t, 3>(std::size_t b, std::size_t h, std::size_t i)> source;
  std::array<std::size_t, 3> sizes;  ///< B, H, L of the mask as it is used; 1 where it is the same
};

/// tile[b,h,i,j] = mask[source(b,h,i),j]; an index of a mask's axis of length 1 is 0.
template <class U>
Tensor<U, 4> tiled(const Tensor<U, 4>& mask, const Tiling& tiling) {
  // Another mistake, made before this one, may have given the mask a query axis.
  const std::size_t rows = std::max(tiling.sizes[2], mask.size(2));
  return filled<U>({tiling.sizes[0], tiling.sizes[1], rows, mask.size(3)},
                   [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
                     const auto [mb, mh, mi] = tiling.source(b, h, i);
                     return broadcast(mask, mb, mh, mi, j);
                   });
}

/// The mask, the padding or the lengths hide what the tiles of them say.
void tile(Visibility<double>& visibility, const RuleSet& rules, const Tiling& tiling);

/// B, H and L of what these rules hide, before it is broadcast: 1 where it is the same along that
/// axis.
std::array<std::size_t, 3> own_sizes(const Visibility<double>& visibility, const RuleSet& rules);

}  // namespace qkv::faults
