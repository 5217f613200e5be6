// The stages of a block: id, formula, axes and source of each, around those of its attention.
#pragma once

#include <span>
#include <vector>

#include "qkv/attention/stage_list.hpp"
#include "qkv/block/problem.hpp"

namespace qkv {

/// The stages that a block has beside those of attention, in the order of pre.
std::span<const StageInfo> block_stage_list();

/// The stages that this configuration has, in order, from shapes alone.
std::vector<StageShape> block_stage_shapes(const Inputs& inputs, const BlockInputs& block,
                                           const Settings& settings,
                                           const BlockSettings& block_settings,
                                           const BlockSizes& sizes);

}  // namespace qkv
