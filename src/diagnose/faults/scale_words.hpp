// The scale in words: what it should be, and how to put it right.
#pragma once

#include <string>

#include "qkv/diagnose/case.hpp"

namespace qkv::faults {

/// "the division by √D", "the division by the temperature 2", "the factor 0.3"
std::string scaling_words(const Problem<double>& problem);

/// "divide scores by sqrt(4) = 2", "divide scores by the temperature 2", "multiply scores by 0.3"
std::string how_to_scale(const Problem<double>& problem);

/// True where two scales are the same number, up to its own rounding.
bool same_scale(double a, double b);

}  // namespace qkv::faults
