// What -w names: a folder of weights, or a file of them, among the options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common_options.hpp"
#include "qkv/attention/settings.hpp"

namespace qkv::cli {

/// What the names of a file tell besides.
struct TakenWeights {
  std::vector<std::string> out_in = {};  ///< roles whose tensor's name says out-in
  std::optional<QkvOrder> order = {};    ///< of a fused weight, unless --qkv-order is given
};

/// Adds the weights that option "weights" names. As a flag it wins over the bundle; where
/// config.json names it, the bundle's own files win.
///
/// flags   the options before the bundle was looked into
/// throws  Error as find_weights() and add_weights_folder() do
TakenWeights take_weights(const CommonOptions& flags, CommonOptions& options);

}  // namespace qkv::cli
