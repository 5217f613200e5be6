// Stage ff_act: what bends the feed-forward, element by element.
#include "qkv/block/activation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace qkv {

// The library's functions, in every arithmetic: what their last bit of a double may differ by from
// CPU to CPU is seen in float16 and bfloat16 only within 2^-52 of where rounding turns.
double activated(double a, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return a < 0 ? 0 : a;  // NaN is not below 0
    case Activation::gelu:
      // erfc keeps the digits that 1 + erf loses where a is far below 0.
      return a / 2 * std::erfc(-a / std::numbers::sqrt2);
    case Activation::gelu_tanh: {
      const double root = std::sqrt(2 / std::numbers::pi);
      return a / 2 * (1 + std::tanh(root * (a + 0.044715 * a * a * a)));
    }
    case Activation::silu:
      return a / (1 + std::exp(-a));
  }
  return a;
}

template <class T>
Tensor<T, 3> activate(const Tensor<T, 3>& a, Activation activation) {
  auto y = Tensor<T, 3>::make(a.sizes());
  std::ranges::transform(a.elements(), y.elements().begin(), [&](T value) {
    return static_cast<T>(activated(static_cast<double>(value), activation));
  });
  return y;
}

template Tensor<float, 3> activate(const Tensor<float, 3>&, Activation);
template Tensor<double, 3> activate(const Tensor<double, 3>&, Activation);

}  // namespace qkv
