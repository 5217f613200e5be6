// MatrixFunctions: the inner part of the tiled kernel with its products in a matrix unit.
#pragma once

#include "kernels/simd/functions.hpp"

namespace qkv {

struct MatrixFunctions {
  SimdFunctions rows = {};  ///< those of the tiled kernel alone
  /// c += a * b: a (16,32) and b (32,16) bfloat16, as (16,16) words each: word (m,k) of a is
  /// (a[m][2k], a[m][2k+1]), the first in the low half, word (k,n) of b is (b[2k][n], b[2k+1][n]);
  /// c (16,16) floats. For tests.
  void (*multiply)(const float* a, const float* b, float* c) = nullptr;
};

/// In plain loops, for any CPU.
extern const MatrixFunctions emulated_matrix_functions;
#if defined(__x86_64__)
/// Where matrix_unit() says that they may be used.
extern const MatrixFunctions amx_functions;
#endif

}  // namespace qkv
