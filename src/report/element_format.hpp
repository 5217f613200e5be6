// Element format: one width and one number of digits for all elements that are shown together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "qkv/tensor/array.hpp"

namespace qkv {

/// Calls its argument with the address of every element that is shown.
using ForEachShown = std::function<void(const std::function<void(const std::byte*)>&)>;

/// Makes elements of equal width, as NumPy's print with floatmode maxprec and sign "-".
class ElementFormat {
 public:
  /// `array` gives type and byte order; `precision` is the most digits after the point.
  ElementFormat(const Array& array, const ForEachShown& for_each_shown, int precision);

  std::string operator()(const std::byte* element) const;

 private:
  void fit_floats(const ForEachShown& for_each_shown);
  void fit_integers(const ForEachShown& for_each_shown);
  double number(const std::byte* element) const;
  std::string integer(const std::byte* element) const;
  std::string padded_float(double value) const;

  DType dtype_;
  bool swapped_;
  int precision_;
  bool exponents_ = false;         ///< 1.5e-05, not 0.000015
  std::size_t left_ = 0;           ///< characters before the point; of integers, all
  std::size_t right_ = 0;          ///< characters behind it
  std::size_t exponent_size_ = 0;  ///< digits of the exponent
};

}  // namespace qkv
