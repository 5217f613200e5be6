// Comparison: how many elements differ, the worst of them, and by how much; NaN differs from
// everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "qkv/tensor/array.hpp"

namespace qkv {

/// |a - b| <= atol + rtol*|b| holds for an equal element; b is the expected one. Equal infinities
/// are equal.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  bool equal_nan = false;
};

/// The defaults that torch.testing.assert_close has, the looser of the two types: float16 (1e-3,
/// 1e-5), bfloat16 (1.6e-2, 1e-5), float32 (1.3e-6, 1e-5), float64 (1e-7, 1e-7); exact for integers
/// and bool.
Tolerance default_tolerance(DType a, DType b);

struct Comparison {
  std::size_t count = 0;
  std::size_t differing = 0;
  double max_abs =
      0;  ///< over pairs where both are finite; NaN where a NaN or an unequal infinity differs
  double max_rel = 0;          ///< |a-b|/|b|, over pairs with b not 0
  std::size_t max_abs_at = 0;  ///< row-major positions
  std::size_t max_rel_at = 0;
  std::size_t first_at = 0;  ///< the first differing element, where differing > 0
  std::uint64_t max_ulp =
      0;  ///< greatest distance in steps of the coarser of the two float types; 0 for exact types
  std::size_t non_finite_differing =
      0;  ///< of the differing ones, those with a NaN or an infinity on a side
};

/// throws  Error naming both shapes unless they are equal
Comparison compare(const Array& a, const Array& b, const Tolerance& tolerance);

}  // namespace qkv
