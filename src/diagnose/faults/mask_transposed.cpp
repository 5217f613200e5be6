// mask-transposed: queries and keys of the mask are exchanged.
#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/rules.hpp"

namespace qkv::faults {

namespace {

template <class U>
bool square(const Tensor<U, 4>& mask) {
  return !mask.empty() && mask.size(2) == mask.size(3) && mask.size(2) > 1;
}

template <class U>
void transpose(Tensor<U, 4>& mask) {
  if (!square(mask)) return;
  const Tensor<U, 4> before = mask;
  mask = filled<U>(before.sizes(), [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
    return before(b, h, j, i);
  });
}

}  // namespace

/// mask[b,h,j,i] in place of mask[b,h,i,j]; only a square mask lets that pass without an error.
std::vector<Variant> mask_transposed(const Case& the_case) {
  const Visibility<double>& visibility = the_case.problem.visibility;
  std::vector<Variant> variants;
  if (!square(visibility.hidden_by_mask) && !square(visibility.added)) return variants;
  add_rule_mistake(
      the_case,
      [](Visibility<double>& v) {
        transpose(v.hidden_by_mask);
        transpose(v.added);
      },
      "your code has the mask transposed: mask[j,i] hides key j from query i",
      "transpose the last two axes of the mask: queries first, then keys", variants);
  return variants;
}

}  // namespace qkv::faults
