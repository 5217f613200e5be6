// Half: rounding to float16 and bfloat16, and what these can hold.
#pragma once

#include <string>

#include "elementwise.hpp"
#include "qkv/diagnose/case.hpp"
#include "qkv/tensor/dtype.hpp"

namespace qkv::faults {

/// One of the two 16-bit types.
struct Half {
  DType dtype = DType::float16;
  double greatest = 0;  ///< the largest finite number

  std::string text() const { return std::string(name(dtype)); }
  double eps() const { return epsilon(dtype); }
  /// To nearest, ties to even, by way of float, as hardware does; beyond the largest: infinity.
  double rounded(double value) const;
  bool holds(double value) const;
};

inline constexpr Half float16 = {DType::float16, 65504};
inline constexpr Half bfloat16 = {DType::bfloat16, 0x1.fep127};

template <std::size_t Rank>
Tensor<double, Rank> rounded(const Tensor<double, Rank>& x, const Half& half) {
  if (x.empty()) return x;
  return elementwise(x, [half](double value) { return half.rounded(value); });
}

/// True where one of the user's stages holds a NaN or an infinity other than a hidden score's.
bool gave_non_finite(const Case& the_case);

}  // namespace qkv::faults
