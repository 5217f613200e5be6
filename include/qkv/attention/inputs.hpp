// Inputs: the tensors that the user brought, each with the name that errors call it by.
#pragma once

#include <optional>
#include <string>

#include "qkv/tensor/array.hpp"

namespace qkv {

struct NamedArray {
  Array array = {};
  std::string where = {};  ///< "k.npy", "bundle/wq.npy", "--lengths": what the user would recognise
  /// The name says how the weight is stored (nn.Linear's `q_proj.weight`: out-in); asked only where
  /// --weight-order is auto.
  bool known_out_in = false;
  Shape head_shape = {};  ///< of one head's own matrix, where the array is several side by side
};

/// The shape that tells how a weight is stored: side by side, (E,D) may have become a square.
inline const Shape& telling_shape(const NamedArray& weight) {
  return weight.head_shape.empty() ? weight.array.shape : weight.head_shape;
}

/// Exactly those that were given. No shape is checked here: that is problem.hpp's business.
struct Inputs {
  std::optional<NamedArray> x = {};        ///< (L,E) or (B,L,E)
  std::optional<NamedArray> context = {};  ///< (S,E') or (B,S,E')
  std::optional<NamedArray> q = {};        ///< (L,D), (B,L,H*D) or rank 4
  std::optional<NamedArray> k = {};
  std::optional<NamedArray> v = {};
  std::optional<NamedArray> wq = {}, wk = {}, wv = {}, wo = {}, wqkv = {};  ///< rank 2
  std::optional<NamedArray> bq = {}, bk = {}, bv = {}, bo = {}, bqkv = {};  ///< rank 1
  std::optional<NamedArray> mask = {};                 ///< broadcast right-aligned to (B,H,L,S)
  std::optional<NamedArray> key_padding = {};          ///< (B,S) or (B,1,S)
  std::optional<NamedArray> lengths = {};              ///< (B), integers
  std::optional<NamedArray> sinks = {};                ///< (H), logits
  std::optional<NamedArray> q_norm = {}, k_norm = {};  ///< (D), gains
  std::optional<NamedArray> past_k = {};               ///< (B,G,P,D)
  std::optional<NamedArray> past_v = {};               ///< (B,G,P,Dv)
  std::optional<NamedArray> position =
      {};  ///< (L) or (B,L), integers; in place of Settings::first_position
};

}  // namespace qkv
