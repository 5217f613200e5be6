// Rules of visibility for a computation whose queries and keys are other axes of the same tensors.
#include "diagnose/faults/rules_over.hpp"

namespace qkv {

Visibility<double> rules_over(const Visibility<double>& rules, std::size_t B, std::size_t H,
                              std::size_t L, std::size_t S, long long realign) {
  const auto same_for_all = [B, realign](const std::vector<long long>& offsets) {
    return std::vector<long long>(B, offsets.empty() ? 0 : offsets.front() + realign);
  };
  Visibility<double> over = rules;
  over.B = B, over.H = H, over.L = L, over.S = S;
  over.offset = same_for_all(rules.offset);
  over.slope_offset = same_for_all(rules.slope_offset);
  over.window_offset = same_for_all(rules.window_offset);
  return over;
}

bool has_shaped_rules(const Visibility<double>& rules) {
  return !rules.lengths.empty() || !rules.padded.empty() || !rules.hidden_by_mask.empty() ||
         !rules.added.empty();
}

}  // namespace qkv
