// Kinds of faults that the search for one treats in their own way.
#pragma once

#include "qkv/diagnose/fault.hpp"

namespace qkv {

/// Faults that fit any number, or any rounding: they say less than one that names the number.
bool generic(const Fault& fault);

/// Faults that fit a number to the user's tensors, and another one where another mistake was made
/// too.
bool fits_a_number(const Fault& fault);

/// Faults whose business NaN is, likeliest first; all others share the last place.
int place_among_nan_faults(const Fault& fault, bool nan_in_inputs);

}  // namespace qkv
