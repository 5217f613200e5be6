// Rules: taking a visibility apart by its rules, and putting changed ones in their place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "qkv/attention/visibility.hpp"

namespace qkv::faults {

/// Some of the rules of a visibility. `mask` is both kinds: hiding, and added to the scores.
struct RuleSet {
  bool mask = false, padding = false, lengths = false, causal = false, window = false;
  bool operator==(const RuleSet&) const = default;
  int count() const { return mask + padding + lengths + causal + window; }
};

RuleSet rules_of(const Visibility<double>& visibility);

/// Those that the user's tensors say, without those that follow from positions.
RuleSet masks_of(const Visibility<double>& visibility);

/// "the mask and the padding".
std::string words(const RuleSet& rules);

/// The visibility with these rules alone.
Visibility<double> only(const Visibility<double>& visibility, const RuleSet& rules);

/// The visibility without these rules. Where none is left, one that hides nothing, so that there
/// still is a stage `masked`: the scores as they were.
Visibility<double> without(const Visibility<double>& visibility, const RuleSet& rules);

/// The rules that one line of code may apply together: all of them, what the user's tensors say,
/// what follows from positions, and each alone. No set twice, none empty.
std::vector<RuleSet> together(const RuleSet& all);

/// 1 where some rule hides the key, in the smallest shape that broadcasts to (B,H,L,S).
Tensor<std::uint8_t, 4> hidden_by(const Visibility<double>& visibility);

/// Hides these keys besides, (B,H,L,S) or broadcast to it.
void also_hide(Visibility<double>& visibility, const Tensor<std::uint8_t, 4>& hidden);

/// Hides exactly these keys in place of what mask, padding and lengths hide now.
void hide_in_place_of(Visibility<double>& visibility, const RuleSet& rules,
                      const Tensor<std::uint8_t, 4>& hidden);

/// These rules hide nothing any more: they add one number to the scores of the keys that they let
/// through, and another to those that they hid. What a float mask adds stays.
void add_in_place_of(Visibility<double>& visibility, const RuleSet& rules, double to_seen,
                     double to_hidden);

/// True where the stage has the sizes that the rules speak of: another mistake, made before, may
/// have exchanged its axes.
bool fits(const Tensor<double, 4>& stage, const Visibility<double>& visibility);

/// True where some query sees no key.
bool has_empty_row(const Visibility<double>& visibility);

/// The element of a tensor whose axes are 1 or full.
template <class U>
const U& broadcast(const Tensor<U, 4>& tensor, std::size_t b, std::size_t h, std::size_t i,
                   std::size_t j) {
  return tensor(tensor.size(0) == 1 ? 0 : b, tensor.size(1) == 1 ? 0 : h,
                tensor.size(2) == 1 ? 0 : i, tensor.size(3) == 1 ? 0 : j);
}

/// True where each axis is 1 or that of the stage.
template <class U>
bool broadcasts(const Tensor<U, 4>& mask, const Tensor<double, 4>& stage) {
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (mask.size(axis) != 1 && mask.size(axis) != stage.size(axis)) return false;
  }
  return true;
}

/// A tensor of these sizes whose elements are value(b, h, i, j).
template <class U, class Value>
Tensor<U, 4> filled(const std::array<std::size_t, 4>& sizes, Value&& value) {
  auto tensor = Tensor<U, 4>::make(sizes);
  U* element = tensor.data();
  for (std::size_t b = 0; b < sizes[0]; ++b) {
    for (std::size_t h = 0; h < sizes[1]; ++h) {
      for (std::size_t i = 0; i < sizes[2]; ++i) {
        for (std::size_t j = 0; j < sizes[3]; ++j) *element++ = value(b, h, i, j);
      }
    }
  }
  return tensor;
}

/// Sizes that hold both of two tensors that broadcast to (B,H,L,S).
template <class U, class V>
std::array<std::size_t, 4> joint_sizes(const Tensor<U, 4>& a, const Tensor<V, 4>& b) {
  std::array<std::size_t, 4> sizes = a.sizes();
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (sizes[axis] == 1) sizes[axis] = b.size(axis);
  }
  return sizes;
}

}  // namespace qkv::faults
