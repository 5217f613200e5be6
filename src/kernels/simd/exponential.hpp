// exp2 and tanh of a register: a fraction of libm's time, about its accuracy.
#pragma once

#include "kernels/simd/vec.hpp"

namespace qkv {
namespace {

constexpr float log2_e = 1.44269504088896340736F;

/// Weights below 2^-100 of the row's greatest become exactly 0: a product with a denormal costs a
/// hundred times as much as one with a normal number.
constexpr float lowest_exponent = -100;

/// 2^t for t <= 0 (a rounding above it does no harm); 0 below 2^-100; a NaN comes out as NaN.
///
/// range   error under 1 ulp
/// source  2^t = 2^n * 2^f, n = round(t); 2^f on [-1/2, 1/2] by the polynomial of degree 6 with the
///         least relative error (Remez), 4e-9
inline Vec exp2_or_zero(Vec t) {
  const Vec to_integer = splat(12582912.0F);  // 1.5 * 2^23: adding it leaves no fraction
  const Vec shifted = t + to_integer;
  const Vec n = shifted - to_integer;
  const Vec f = t - n;
  Vec p = splat(1.5469732e-4F);
  p = p * f + 1.3410001e-3F;
  p = p * f + 9.6180308e-3F;
  p = p * f + 5.5502973e-2F;
  p = p * f + 0.24022651F;
  p = p * f + 0.69314723F;
  p = p * f + 1.0F;
#if defined(__AVX512F__)
  // "Not less than" is true of a NaN, so that it passes.
  const __mmask16 kept = _mm512_cmp_ps_mask(t, splat(lowest_exponent), _CMP_NLT_UQ);
  return _mm512_maskz_scalef_ps(kept, p, n);
#else
  // 2^n as a factor and not added to p's exponent bits: that would make a number of a NaN.
  const BitVec exponent = (reinterpret_cast<BitVec>(shifted) + 127U) << 23;
  const Vec scaled = p * reinterpret_cast<Vec>(exponent);
  return t < splat(lowest_exponent) ? Vec{} : scaled;
#endif
}

/// The same down to the least denormal: slow, for where an infinity in v must meet every weight
/// that is not 0.
inline Vec exp2_with_denormals(Vec t) {
  const IntVec small = t < splat(-60.0F);
  const Vec power = exp2_or_zero(small ? t + 64.0F : t);
  return small ? power * 0x1p-64F : power;
}

/// tanh(y), odd, within [-1, 1]; a NaN comes out as NaN.
///
/// range   error under 2 ulp
/// source  y + y^3*P(y^2) up to 5/8, P by Remez, 4e-9; 1 - 2e/(1 + e), e = exp(-2|y|), above
inline Vec tanh_of(Vec y) {
  const Vec size = y < 0 ? -y : y;
  const Vec z = y * y;
  Vec p = splat(-5.7049871e-3F);
  p = p * z + 2.0639087e-2F;
  p = p * z + -5.3739715e-2F;
  p = p * z + 0.13331442F;
  p = p * z + -0.33333282F;
  const Vec small = y + y * z * p;
  const Vec e = exp2_or_zero(size * (-2 * log2_e));
  const Vec large = 1 - 2 * e / (1 + e);
  return size < splat(0.625F) ? small : (y < 0 ? -large : large);
}

}  // namespace
}  // namespace qkv
