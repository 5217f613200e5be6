// What well-known checkpoints call the weights of attention.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "qkv/attention/settings.hpp"

namespace qkv::cli {

/// Which names are looked for: those of attention alone, or those of a whole encoder block.
enum class WeightScope { attention, block };

/// The tensor of a checkpoint that plays a role.
struct WeightName {
  std::string role;                    ///< the option: "wq", "bqkv", "norm1-w"
  std::string name;                    ///< "self_attn.q_proj.weight"
  bool out_in = false;                 ///< nn.Linear's orientation, which the name implies
  std::optional<QkvOrder> order = {};  ///< of a fused weight, where the name implies it
};

/// One entry for each role that some tensor name of the file (after `prefix`) is known for.
///
/// throws  Error where the prefix fits no tensor, or a role has several tensors (several layers):
/// lists the prefixes
std::vector<WeightName> find_weights(const std::vector<std::string>& names,
                                     const std::string& prefix, const std::string& file,
                                     WeightScope scope = WeightScope::attention);

}  // namespace qkv::cli
