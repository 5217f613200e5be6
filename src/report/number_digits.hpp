// Digits: an element as the shortest decimal that means it, in its own type.
#pragma once

#include <string>

#include "qkv/tensor/dtype.hpp"

namespace qkv {

/// value = 0.d1d2d3... * 10^point, without its sign. 0 is digit "0" with point 1.
struct Digits {
  std::string digits;
  int point = 1;
};

/// The fewest digits that read back as the same element of `dtype` (a float type), as NumPy and
/// Python print it: 0.1 for the float32 0.100000001490116.
///
/// value   finite, an element of `dtype`
/// edge    bfloat16, which NumPy lacks, by the same rule: the fewest digits that round to it
Digits shortest_digits(double value, DType dtype);

/// How positional() writes the digits before the point that the shortest decimal leaves at 0.
enum class WholePart {
  shortest,  ///< 65500. for the float16 65504, as a scalar
  exact      ///< 65504., as an element of an array
};

/// [-]int.frac with at most `most` digits after the point and no zeros at their end: "0.25", "1.".
std::string positional(double value, DType dtype, int most, WholePart whole);

/// [-]d.frac and, apart, the exponent with its sign and two digits at least: "1.25" and "-05".
struct Scientific {
  std::string significand;
  std::string exponent;
};

/// At most `most` digits after the point and at least `least`: those beyond the shortest are the
/// element's exact ones, not zeros.
Scientific scientific(double value, DType dtype, int most, int least);

/// An element on its own, as str() shows a NumPy scalar: "0.1", "1e-05", "nan", "-3", "True".
std::string scalar_text(double value, DType dtype);

}  // namespace qkv
