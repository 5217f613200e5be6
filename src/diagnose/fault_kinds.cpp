// Kinds of faults that the search for one treats in their own way.
#include "diagnose/fault_kinds.hpp"

#include <algorithm>
#include <iterator>

namespace qkv {

bool generic(const Fault& fault) {
  constexpr std::string_view ids[] = {"scale-other", "precision-f16", "precision-bf16",
                                      "bias-extra", "scores-shifted"};
  return std::ranges::find(ids, fault.id) != std::end(ids);
}

bool fits_a_number(const Fault& fault) {
  constexpr std::string_view ids[] = {"mask-fill-small", "rope-offset", "rope-partial",
                                      "rope-base"};
  return std::ranges::find(ids, fault.id) != std::end(ids);
}

int place_among_nan_faults(const Fault& fault, bool nan_in_inputs) {
  constexpr std::string_view ids[] = {"empty-rows-nan", "overflow-f16", "softmax-unstable",
                                      "mask-fill-overflow", "nan-behind-mask"};
  if (nan_in_inputs && fault.id == "nan-behind-mask") return -1;
  return static_cast<int>(std::ranges::find(ids, fault.id) - std::begin(ids));
}

}  // namespace qkv
