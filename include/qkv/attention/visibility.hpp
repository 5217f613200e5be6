// Visibility: which keys a query may see, and what is added to its scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "qkv/attention/settings.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// Where a block of rows begins in the whole: element (0,0,0) of the block is (b,h,i) of (B,H,L).
struct Origin {
  std::size_t b = 0, h = 0, i = 0;
};

/// The rules of one problem, each optional; a key is visible where every rule lets it through.
template <class T>
struct Visibility {
  std::size_t B = 1, H = 1, L = 0, S = 0;
  bool causal = false;
  std::optional<Window> window = {};
  std::vector<long long> offset =
      {};  ///< per batch row: query i stands at key i + offset[b] (causal rule)
  std::vector<long long> window_offset = {};  ///< the same for the window
  std::vector<std::size_t> lengths =
      {};  ///< per batch row, keys from here on are padding; empty: none are
  Tensor<std::uint8_t, 2> padded = {};  ///< (B,S), 1 where a key is padding
  Tensor<std::uint8_t, 4> hidden_by_mask =
      {};                      ///< broadcastable to (B,H,L,S), 1 where the mask hides
  Tensor<T, 4> added = {};     ///< broadcastable to (B,H,L,S), logits; -Inf hides
  std::vector<T> slopes = {};  ///< (H), ALiBi, 1/token; empty: none
  std::vector<long long> slope_offset =
      {};  ///< per batch row: query i stands at key i + slope_offset[b]
  Fill fill = {};
  EmptyRows empty_rows = EmptyRows::zero;

  /// False where nothing is ever hidden or added: there is no stage `masked`.
  bool any() const {
    return causal || window || !lengths.empty() || !padded.empty() || !hidden_by_mask.empty() ||
           !added.empty() || !slopes.empty();
  }
  /// True where query i of head h may not see key j.
  bool hidden(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const;
  /// What is added to a visible score: the float mask, and -slope*|i + slope_offset - j|; 0 without
  /// both.
  T bias(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const;
  /// True where a query sees no key at all.
  bool empty_row(std::size_t b, std::size_t h, std::size_t i) const;
};

}  // namespace qkv
