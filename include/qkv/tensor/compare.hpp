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

/// max_ulp of a pair with a NaN on one side: no number of steps leads there.
inline constexpr std::uint64_t no_ulp = ~std::uint64_t{0};

struct Comparison {
  std::size_t count = 0;
  std::size_t differing = 0;
  /// Greatest |a-b|; NaN where a NaN or an unequal infinity differs, so that no limit lets it pass.
  double max_abs = 0;
  std::size_t max_abs_at = 0;  ///< row-major positions; of the first such NaN or infinity, if any
  double max_rel = 0;          ///< |a-b|/|b|, over finite pairs with b not 0
  std::size_t max_rel_at = 0;
  std::size_t first_at = 0;  ///< the first differing element, where differing > 0
  /// Greatest distance in steps of the coarser of the two float types, infinity one step beyond the
  /// largest number; 0 for exact types, no_ulp where a NaN differs.
  std::uint64_t max_ulp = 0;
  std::size_t non_finite_differing =
      0;                      ///< of the differing ones, those with a NaN or an infinity on a side
  double finite_max_abs = 0;  ///< max_abs over the pairs where both are finite
  std::size_t finite_max_abs_at = 0;
};

/// Element by element, in double; two integer types of which one has 64 bits exactly, as integers.
/// Neither array is converted as a whole.
///
/// edge    arrays without elements are equal where their shapes are; greatest differences are over
///         all pairs, those within the tolerance included
/// throws  Error naming both shapes unless they are equal
/// source  torch.testing.assert_close, for what counts as equal
Comparison compare(const Array& a, const Array& b, const Tolerance& tolerance);

}  // namespace qkv
