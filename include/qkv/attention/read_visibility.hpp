// Masks, key padding and lengths from the user's arrays into the rules of Visibility.
#pragma once

#include <string>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/settings.hpp"
#include "qkv/attention/sizes.hpp"
#include "qkv/attention/visibility.hpp"

namespace qkv {

/// Reads the values; the shapes are known to fit (find_sizes).
///
/// throws  Error: a mask of integers other than 0 and 1, a float padding that is neither 0/1 nor
/// 0/-Inf, a length that is
///         negative or greater than S
template <class T>
Visibility<T> read_visibility(const Inputs& inputs, const Settings& settings, const Sizes& sizes);

}  // namespace qkv
