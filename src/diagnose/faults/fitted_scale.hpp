// fitted_scale(): the factor on the scores that the user's tensors speak for.
#pragma once

#include <optional>

#include "qkv/diagnose/case.hpp"

namespace qkv::faults {

struct FittedNumber {
  double value = 0;
  double error = 0;  ///< standard error of the fit, and what rounding the number itself may do

  /// Within eight errors: the same number as far as the tensors tell.
  bool may_be(double number) const;
};

/// The number f for which f*scores explains the first of the user's stages from `scaled` on.
///
///   scaled, capped, masked   least squares of scaled on scores, the cap and the mask undone
///   attn, no cap             log attn = f*scores + added - lse: least squares within rows
///   attn with a cap, heads, concat, out
///                            Gauss-Newton on a sample of the queries, from the best of 17 powers
///                            of 2 around the right scale
///
/// edge  none where no such stage was given, or where f makes no difference (one key, equal keys)
std::optional<FittedNumber> fitted_scale(const Case& the_case);

}  // namespace qkv::faults
