// What qkv block starts from: the input, and one or more layers of weights.
#pragma once

#include <string>
#include <vector>

#include "cli/common_options.hpp"
#include "qkv/block/problem.hpp"
#include "qkv/block/settings.hpp"

namespace qkv::cli {

/// One block of the stack.
struct BlockLayer {
  std::string prefix = {};  ///< "0." before its stages, "" where there is one layer only
  Inputs inputs = {};       ///< x only in the first: the others work on the block_out before them
  BlockInputs block = {};
  Settings settings = {};
};

struct BlockRequest {
  Request request = {};
  BlockSettings settings = {};
  std::vector<BlockLayer> layers = {};
};

/// The weights of a block's norms and feed-forward, as options are named.
std::vector<std::string> block_weight_names();

/// Defines what block takes beside the common options: its weights and settings.
void add_block_options(CLI::App& app, CommonOptions& options);

/// Reads the common options, and the layers: one from the bundle, the flags or -w, or as many as
/// there are folders layers/0 ... N-1 in the bundle or the folder of weights, or layers numbered
/// from 0 behind the prefix of a checkpoint file.
///
/// throws  Error naming every flag and file that is wrong
BlockRequest read_block_request(const CommonOptions& options);

}  // namespace qkv::cli
