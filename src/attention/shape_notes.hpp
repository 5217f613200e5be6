// Notes on shapes that compute, and may yet mean something else than the user thinks.
#pragma once

#include <string>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/sizes.hpp"

namespace qkv {

/// How a mask of rank 3 was read, and heads as wide as the whole model. For inputs that fit.
std::vector<std::string> shape_notes(const Inputs& inputs, const Sizes& sizes);

}  // namespace qkv
