// Likeness: tensors and rules that are equal where a mistake would need them to differ.
#pragma once

#include <algorithm>
#include <vector>

#include "qkv/diagnose/fault.hpp"

namespace qkv {

/// True where there are no elements that are not 0.
template <std::size_t Rank>
bool all_zeros(const Tensor<double, Rank>& tensor) {
  return tensor.empty() ||
         std::ranges::all_of(tensor.elements(), [](double value) { return value == 0; });
}

template <std::size_t Rank>
bool equal(const Tensor<double, Rank>& a, const Tensor<double, Rank>& b) {
  return a.sizes() == b.sizes() && std::ranges::equal(a.elements(), b.elements());
}

bool symmetric(const Tensor<double, 2>& matrix);
bool identity(const Tensor<double, 2>& matrix);

/// True where every head has the same vector at each of its two or more keys.
bool alike_along_keys(const Tensor<double, 4>& k);

bool hides_something(const Visibility<double>& visibility);

/// True where both hide the same keys, and add the same to the others.
bool same_rules(const Visibility<double>& a, const Visibility<double>& b);

/// True where the mistake can be made, and in no way changes what is hidden or added: it makes no
/// difference on this input.
bool changes_nothing(const Case& the_case, const std::vector<Variant>& variants);

}  // namespace qkv
