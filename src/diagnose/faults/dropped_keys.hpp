// dropped_keys(): which weights dropout took, found from the heads alone.
#pragma once

#include <optional>

#include "qkv/diagnose/case.hpp"

namespace qkv::faults {

struct Dropped {
  double enlargement = 1;       ///< 1/(1-p), what the kept weights were multiplied by
  Tensor<double, 4> kept = {};  ///< (B,H,L,S), 1 where a weight was kept, else 0
};

/// The subset of keys of every query whose weights, all multiplied by one number greater than 1,
/// give the user's heads; heads from concat, or from out where W_O can be undone. There are 2^S
/// subsets for each query, so this is for few keys only.
///
/// edge  none where heads, concat and out were not given or say too little: more than 12 visible
///       keys, too many queries, a W_O that loses something, no number that fits every query
std::optional<Dropped> dropped_keys(const Case& the_case);

}  // namespace qkv::faults
