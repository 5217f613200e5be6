// The configuration in words: the headline of a trace, and the "config" of its JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/common_options.hpp"
#include "qkv/attention/sizes.hpp"
#include "qkv/report/report.hpp"

namespace qkv::cli {

/// "self-attention   B=2 L=4 S=4 E=8   H=1 D=4 Dv=8   scale 1/√4   mask none   f32"
std::string headline(const Request& request, const Sizes& sizes);

/// "mask causal (start) + lengths; fill -inf; empty rows zero", or "mask none".
std::string mask_words(const Request& request);

/// What --like became, so that nobody has to know the system by heart.
std::string preset_words(const Request& request);

/// Every size and setting, under the names of the command line.
std::vector<ConfigEntry> config_entries(const Request& request, const Sizes& sizes);

}  // namespace qkv::cli
