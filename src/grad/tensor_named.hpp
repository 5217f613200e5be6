// The input that a gradient belongs to.
#pragma once

#include <optional>
#include <string>

#include "qkv/attention/inputs.hpp"

namespace qkv {

/// The user's tensor of that name; nullptr for a stage. Gains are called q_gain and k_gain, because
/// q_norm and k_norm are stages.
std::optional<NamedArray>* tensor_named(Inputs& inputs, const std::string& name);

}  // namespace qkv
