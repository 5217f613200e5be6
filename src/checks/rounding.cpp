// Rounding: error bounds of right weights.
#include "rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "qkv/tensor/arithmetic.hpp"
#include "qkv/tensor/dtype.hpp"

namespace qkv::checks {

template <class T>
Rounding rounding_of(const Evidence<T>& evidence) {
  Rounding rounding;
  rounding.eps = std::max(evidence.eps, epsilon(dtype_of<T>()));
  rounding.unit = rounding.eps / 2;
  rounding.inner = std::min(rounding.unit, 0x1p-24);
  // float16 has subnormals of its own, 2^-24 apart, and uses them: a weight is off by half a step.
  // The others may flush what is below their smallest normal number to 0.
  if (rounding.eps == epsilon(DType::float16)) {
    rounding.tiny = 0x1p-25;
  } else if (rounding.eps >= epsilon(DType::float32)) {
    rounding.tiny = 0x1p-126;
  } else {
    rounding.tiny = 0x1p-1022;
  }
  return rounding;
}

double largest_of(double eps) {
  if (eps == epsilon(DType::float16)) return largest_finite(Arithmetic::float16);
  if (eps == epsilon(DType::bfloat16)) return largest_finite(Arithmetic::bfloat16);
  return eps < epsilon(DType::float32) ? std::numeric_limits<double>::max()
                                       : largest_finite(Arithmetic::native);
}

bool overflowed(double exact, double got, double eps) {
  return std::isinf(got) && std::signbit(got) == std::signbit(exact) &&
         std::abs(exact) > largest_of(eps);
}

double sum_tolerance(const Rounding& rounding, std::size_t n) {
  const auto terms = static_cast<double>(std::max<std::size_t>(n, 1));
  return 2 * rounding.unit + rounding.inner * (terms + 2 * std::log(terms) + 8) +
         terms * rounding.tiny;
}

template Rounding rounding_of(const Evidence<float>&);
template Rounding rounding_of(const Evidence<double>&);

}  // namespace qkv::checks
