// Ranking: which of the mistakes that explain a stage are named, and in which order.
#pragma once

#include <string>
#include <vector>

#include "qkv/diagnose/diagnose.hpp"
#include "qkv/diagnose/fault.hpp"

namespace qkv {

/// A mistake, or two, that turned a differing stage into a matching one and broke none that
/// matched.
struct Accepted {
  std::vector<const Fault*> faults;  ///< one, or two where no single one explains the stage
  std::vector<const Variant*> variants;
  std::vector<std::string> explains;
  double residual = 0;   ///< in units of what rounding may do
  double left = 0;       ///< greatest absolute difference over the explained stages
  bool refuted = false;  ///< it changes a stage besides that is not so in the user's tensors
};

/// Those that explain most, in the order of the list, refuted ones last; generic ones only where
/// no other is left.
std::vector<Accepted> best(std::vector<Accepted> accepted);

/// Adds the first of them, or both of a pair, to what was found; the others are its ties.
void report(const std::vector<Accepted>& accepted, std::vector<FoundFault>& found);

}  // namespace qkv
