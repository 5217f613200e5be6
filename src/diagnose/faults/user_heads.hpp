// user_heads(): the heads that the user's tensors imply.
#pragma once

#include <optional>

#include "qkv/diagnose/case.hpp"

namespace qkv::faults {

struct UserHeads {
  Tensor<double, 4> value = {};  ///< (B,H,L,Dv)
  Tensor<double, 4> error = {};  ///< what rounding of the user's numbers may do to each
};

/// Heads themselves, or concat or out cut into heads again, W_O undone by least squares.
///
/// edge  none where no such stage was given, or where W_O maps different heads to the same out
std::optional<UserHeads> user_heads(const Case& the_case);

}  // namespace qkv::faults
