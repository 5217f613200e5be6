// mask-head-order: the (B·H) tiles of the mask are in the other order.
#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/mask_tiles.hpp"

namespace qkv::faults {

/// The scores hold matrix n = b*H + h. Tiled as M0 M1 M0 M1 in place of M0 M0 M1 M1, matrix n meets
/// the mask of batch row n % B and head n / B; or the scores are those in head order, n = h*B + b,
/// and the mask is not.
std::vector<Variant> mask_head_order(const Case& the_case) {
  const Visibility<double>& visibility = the_case.problem.visibility;
  const std::size_t B = the_case.problem.sizes.B, H = the_case.problem.sizes.H;
  std::vector<Variant> variants;
  if (B < 2 || H < 2) return variants;
  const RuleSet all = rules_of(visibility);
  for (const RuleSet& rules :
       together({.mask = all.mask, .padding = all.padding, .lengths = all.lengths})) {
    const auto own = own_sizes(visibility, rules);
    if (own[0] == 1 && own[1] == 1) continue;
    for (const bool mask_by_heads : {true, false}) {
      const Tiling tiling{.source =
                              [mask_by_heads, B, H](std::size_t b, std::size_t h, std::size_t i) {
                                const std::size_t by_batch = b * H + h, by_heads = h * B + b;
                                return mask_by_heads ? std::array{by_batch % B, by_batch / B, i}
                                                     : std::array{by_heads / H, by_heads % H, i};
                              },
                          .sizes = {B, H, own[2]}};
      add_rule_mistake(
          the_case, [rules, tiling](Visibility<double>& v) { tile(v, rules, tiling); },
          "the B·H tiles of " + words(rules) +
              " are in the other order than the heads: each sample meets the mask of another",
          "repeat each sample's mask H times in a row (repeat_interleave, M0 M0 M1 M1), not the "
          "whole batch H times (repeat, M0 M1 M0 M1)",
          variants);
    }
  }
  return variants;
}

}  // namespace qkv::faults
