// Stage scaled: scores * factor.
#include "qkv/attention/scale.hpp"

#include <algorithm>

namespace qkv {

template <class T>
Tensor<T, 4> scale(const Tensor<T, 4>& scores, double factor) {
  auto y = Tensor<T, 4>::make(scores.sizes());
  std::ranges::transform(scores.elements(), y.elements().begin(),
                         [f = static_cast<T>(factor)](T x) { return x * f; });
  return y;
}

template Tensor<float, 4> scale(const Tensor<float, 4>&, double);
template Tensor<double, 4> scale(const Tensor<double, 4>&, double);

}  // namespace qkv
