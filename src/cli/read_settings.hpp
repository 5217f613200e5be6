// From words to settings: numbers, choices and limits, each with its error.
#pragma once

#include "cli/common_options.hpp"
#include "qkv/base/error.hpp"

namespace qkv::cli {

/// Reads every option that is no tensor into request.settings, compute, threads and memory_limit;
/// what is wrong becomes a complaint.
void read_settings(const CommonOptions& options, Request& request, Complaints& complaints);

}  // namespace qkv::cli
