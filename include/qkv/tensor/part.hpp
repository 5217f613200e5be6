// Part: NumPy's basic indexing, "[0,3,:8]" after a tensor's name.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "qkv/tensor/array.hpp"

namespace qkv {

/// Integers, slices a:b:c with negative values and steps, "..." and None (new axis), as NumPy has
/// them; never copies. `part` includes its brackets.
///
/// throws  Error calling the tensor `where`: malformed, too many indices, index out of bounds for
/// its axis, step 0
Array part_of(const Array& array, std::string_view part, const std::string& where);

/// Splits "attn.npy[0,3,:8]" into name and part ("" where there is none).
std::pair<std::string, std::string> split_part(const std::string& argument);

}  // namespace qkv
