// Rounding: how far right weights may be from exact ones, by the type that they were rounded to.
#pragma once

#include <cstddef>
#include <limits>

#include "qkv/checks/check.hpp"

namespace qkv::checks {

/// Bounds are in units of `unit`, the greatest relative error of one rounding to the stages' type,
/// and of `inner`, the same for the arithmetic inside a step. Half-precision softmax everywhere
/// sums in single precision and rounds once at the end, so `inner` is never coarser than float's.
struct Rounding {
  double eps = 0;    ///< distance from 1 to the next number
  double unit = 0;   ///< eps/2
  double inner = 0;  ///< min(unit, 2^-24)
  double tiny = 0;   ///< weights below may have lost everything: stored as 0 or a subnormal
};

/// eps of the evidence, or of T where it says none: values held as T are no better than T.
template <class T>
Rounding rounding_of(const Evidence<T>& evidence);

/// The largest finite number of the float type that has this epsilon.
double largest_of(double eps);

/// True where `got` is what a type with this epsilon makes of a number too large for it: an
/// infinity, which stage.finite speaks of.
bool overflowed(double exact, double got, double eps);

/// Greatest |sum - 1| of n right weights.
///
///   storing each weight             unit * sum a_j                         = unit
///   rounding the denominator                                                 unit
///   adding n terms, in any order    at worst inner for each of n - 1 additions
///   exp(x_j - lse) in place of a division, |x_j - lse| <= ln n on average: inner for each of
///                                   the two roundings there                = 2 * inner * ln n
///   exp itself, good to 2 ulp, and a product                                 8 * inner
///   weights that fell below the smallest number                              n * tiny
///
/// Faults are larger: one lost weight out of n like ones shifts the sum by 1/n, which exceeds this
/// in float up to n = 4000; dropout loses many, a sink its whole share.
double sum_tolerance(const Rounding& rounding, std::size_t n);

}  // namespace qkv::checks
