// Whether the next step of the computation can work on what mistakes have made of the stages.
#pragma once

#include <string>

#include "qkv/diagnose/alteration.hpp"

namespace qkv {

/// Two mistakes made together may leave shapes from which no code could go on: false where the step
/// after stage `id` would read beyond a tensor's end.
bool next_step_fits(const std::string& id, const Held& held);

}  // namespace qkv
