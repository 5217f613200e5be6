// Sizes of a plan: inputs that have shapes and no elements.
#pragma once

#include <string>

#include "cli/common_options.hpp"

namespace qkv::cli {

/// The words of --batch, --seq and so on; "" where not given.
struct PlanSizes {
  std::string batch, seq, kv_seq, d_model, d_k, d_v;
  bool any() const;
};

/// X and weights where a model width is given, else q, k and v, in place of tensors from files.
/// With several heads there is an output weight; keys of another number come from a context.
///
/// throws  Error naming every size that is wrong or missing, and tensors given beside sizes
void add_sized_inputs(const PlanSizes& sizes, const CommonOptions& options, Request& request);

}  // namespace qkv::cli
