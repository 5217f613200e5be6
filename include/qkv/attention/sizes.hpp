// Sizes: the value of every axis symbol, found from shapes alone.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/settings.hpp"
#include "qkv/tensor/shape.hpp"

namespace qkv {

struct Sizes {
  std::size_t B = 1;          ///< batch
  std::size_t H = 1;          ///< query heads
  std::size_t G = 1;          ///< key/value heads, H = n*G
  std::size_t L = 0;          ///< queries
  std::size_t S = 0;          ///< keys, those of the cache included
  std::size_t P = 0;          ///< keys in the cache
  std::size_t D = 0;          ///< head width of q and k
  std::size_t Dv = 0;         ///< head width of v
  std::size_t E = 0;          ///< width of x, 0 where q, k, v were given
  std::size_t E_context = 0;  ///< width of the context
  std::size_t E_out = 0;      ///< width of out: W_O's, else H*Dv

  bool projects = false;     ///< q, k, v are made from x
  bool has_context = false;  ///< k and v are made from a context
  bool has_wo = false;
  bool has_batch = true;        ///< the input had a B axis
  bool cache_has_batch = true;  ///< the cache has a B axis, also where the rest has none
  bool has_heads = false;       ///< stages show an H axis: H > 1, or q, k, v came with one
  bool rank_four = false;  ///< q came with rank 4: without W_O, out is heads in the given layout

  std::size_t new_keys() const { return S - P; }
};

/// Every axis from the shapes of the inputs; values are not read.
///
/// throws  Error naming every file and axis that does not fit, and what set the size it should have
/// had
Sizes find_sizes(const Inputs& inputs, const Settings& settings);

/// How a weight is stored, after `auto` has been settled by the shapes (`note` is set where it
/// could not be).
struct WeightOrders {
  WeightOrder wq = WeightOrder::in_out, wk = WeightOrder::in_out, wv = WeightOrder::in_out,
              wo = WeightOrder::in_out, wqkv = WeightOrder::in_out;
  std::string note = {};
};
WeightOrders find_weight_orders(const Inputs& inputs, const Settings& settings);

}  // namespace qkv
