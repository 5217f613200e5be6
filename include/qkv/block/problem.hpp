// BlockProblem: the tensors of an encoder block in one arithmetic type, agreeing with each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/problem.hpp"
#include "qkv/attention/settings.hpp"
#include "qkv/block/feed_forward.hpp"
#include "qkv/block/gain.hpp"
#include "qkv/block/settings.hpp"

namespace qkv {

/// What a block brings beside the tensors of its attention; exactly those that were given.
struct BlockInputs {
  std::optional<NamedArray> norm1_w = {}, norm1_b = {}, norm2_w = {}, norm2_b = {};  ///< (E)
  std::optional<NamedArray> ff_w1 = {}, ff_w3 = {};  ///< (E,F) or (F,E)
  std::optional<NamedArray> ff_w2 = {};              ///< (F,E) or (E,F)
  std::optional<NamedArray> ff_b1 = {};              ///< (F)
  std::optional<NamedArray> ff_b2 = {};              ///< (E)
};

struct BlockSizes {
  Sizes attention = {};
  std::size_t F = 0;  ///< width of the feed-forward
};

/// Every axis from the shapes; values are not read.
///
/// throws  Error naming every file and axis that does not fit, and what set the size it should have
BlockSizes find_block_sizes(const Inputs& inputs, const BlockInputs& block,
                            const Settings& settings, const BlockSettings& block_settings);

/// How the weights are stored, after `auto` has been settled by the shapes.
struct BlockOrders {
  WeightOrder w1 = WeightOrder::in_out, w2 = WeightOrder::in_out, w3 = WeightOrder::in_out;
  /// Of the weights of attention: automatic where their own shapes or names tell.
  WeightOrder attention = WeightOrder::automatic;
  std::string note = {};
};

/// Square weights are read as the ones beside them whose shape tells: those of attention like the
/// feed-forward, and the other way round.
BlockOrders find_block_orders(const Inputs& inputs, const BlockInputs& block,
                              const Settings& settings);

template <class T>
struct BlockProblem {
  BlockSettings settings = {};
  Problem<T> attention = {};  ///< its x is the block's input, (B,L,E)
  NormWeights<T> norm1 = {}, norm2 = {};
  FeedForward<T> feed_forward = {};
  std::vector<std::string> notes = {};  ///< what was decided for the user
};

/// throws  Error naming every input that does not fit, with both shapes
template <class T>
BlockProblem<T> make_block_problem(const Inputs& inputs, const BlockInputs& block,
                                   const Settings& settings, const BlockSettings& block_settings);

}  // namespace qkv
