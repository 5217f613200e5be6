// wrong_factor(): the scores multiplied by another number than the scale.
#pragma once

#include <string>
#include <vector>

#include "qkv/diagnose/case.hpp"
#include "qkv/diagnose/fault.hpp"

namespace qkv::faults {

/// Adds the variant in which the factor on the scores is `factor`; none where that is the right
/// one. `words` says what was done: "divided by D = 4".
void wrong_factor(const Case& the_case, double factor, const std::string& words,
                  std::vector<Variant>& variants);

}  // namespace qkv::faults
