// Whether a fault can strike at all: the option that it is about is in use.
#pragma once

#include <string>

#include "qkv/attention/problem.hpp"

namespace qkv {

/// `id` as in the list of faults; true where the fault is about no option.
bool can_strike(const std::string& id, const Problem<double>& problem);

}  // namespace qkv
