// Sizes of foreign tensors: every axis from whichever tensors and flags were given.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/common_options.hpp"
#include "qkv/attention/sizes.hpp"

namespace qkv::cli {

/// Sizes that nothing tells are 0 (D, Dv, L, S) or 1 (B, H, G). `tensors` are stages by id.
///
/// throws  Error naming every axis that differs from another tensor's
Sizes foreign_sizes(const Request& request,
                    const std::vector<std::pair<std::string, const NamedArray*>>& tensors,
                    std::optional<std::size_t> d_k);

/// "B", "H", "L", "S": the symbol of each axis of a stage of this rank.
std::vector<std::string> foreign_dims(const std::string& stage, std::size_t rank,
                                      const Sizes& sizes, Layout layout);

}  // namespace qkv::cli
