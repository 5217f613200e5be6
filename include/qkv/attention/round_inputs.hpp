// Inputs rounded to the numbers of float16 or bfloat16 before anything is computed with them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/settings.hpp"
#include "qkv/tensor/arithmetic.hpp"

namespace qkv {

/// All that takes part in the arithmetic, the mask where it is added; what says which keys are
/// hidden, how many there are and where they stand stays as it is. Shares what is rounded already.
/// Adds a note for each tensor with finite elements that become infinite.
Inputs rounded(Inputs inputs, const Settings& settings, std::vector<std::string>& notes);

/// One tensor.
void round_input(std::optional<NamedArray>& input, Arithmetic arithmetic,
                 std::vector<std::string>& notes);

/// What hidden scores become: rounded too, and the lowest finite number is that of the type.
Fill rounded(const Fill& fill, Arithmetic arithmetic, std::vector<std::string>& notes);

}  // namespace qkv
