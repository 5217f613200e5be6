// Head folders: heads/0 ... H-1 of a bundle, each with projections of its own.
#pragma once

#include <string>

#include "cli/common_options.hpp"

namespace qkv::cli {

/// Notes the files of FOLDER/heads/N among the options, and their number as the number of heads
/// unless that is given. `given` is what was said before the folder was looked into: it wins over
/// the heads. Does nothing where there is no folder heads.
///
/// throws  Error: a number is missing, a head lacks a weight or has one too many, some heads have a
/// bias and others none, or the folder holds wq, wk, wv, wqkv or their biases as well
void add_heads(const std::string& folder, const CommonOptions& given, CommonOptions& options);

}  // namespace qkv::cli
