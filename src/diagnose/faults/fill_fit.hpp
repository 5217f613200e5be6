// Fill: the finite number that the user's code puts, or adds, where scores are hidden.
#pragma once

#include <optional>
#include <vector>

#include "diagnose/faults/rules.hpp"
#include "qkv/diagnose/case.hpp"

namespace qkv::faults {

struct FittedFill {
  double number = 0;      ///< logits
  bool is_added = false;  ///< to the score; otherwise in its place
};

/// The fills that explain the user's tensors for the keys that these rules hide: from masked where
/// it was given, else from attn, else from the stages after it. None where hidden keys have no
/// weight, or where the tensors cannot say.
std::vector<FittedFill> fitted_fills(const Case& the_case, const RuleSet& rules);

}  // namespace qkv::faults
