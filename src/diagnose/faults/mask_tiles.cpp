// Tiles of a mask.
#include "diagnose/faults/mask_tiles.hpp"

namespace qkv::faults {

void tile(Visibility<double>& visibility, const RuleSet& rules, const Tiling& tiling) {
  const Tensor<double, 4> added = rules.mask ? visibility.added : Tensor<double, 4>{};
  const Tensor<std::uint8_t, 4> hidden = hidden_by(only(visibility, rules));
  hide_in_place_of(visibility, rules, tiled(hidden, tiling));
  if (!added.empty()) visibility.added = tiled(added, tiling);
}

std::array<std::size_t, 3> own_sizes(const Visibility<double>& visibility, const RuleSet& rules) {
  const Tensor<std::uint8_t, 4> hidden = hidden_by(only(visibility, rules));
  return {hidden.size(0), hidden.size(1), hidden.size(2)};
}

}  // namespace qkv::faults
