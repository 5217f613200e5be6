// Stage scaled: scores * factor.
#include "qkv/attention/scale.hpp"

#include <algorithm>

#include "qkv/base/parallel.hpp"

namespace qkv {

template <class T>
Tensor<T, 4> scale(const Tensor<T, 4>& scores, double factor, std::size_t threads) {
  auto y = Tensor<T, 4>::make(scores.sizes());
  parallel_blocks(threads, y.size(), [&](std::size_t first, std::size_t last) {
    std::transform(scores.data() + first, scores.data() + last, y.data() + first,
                   [f = static_cast<T>(factor)](T x) { return x * f; });
  });
  return y;
}

template Tensor<float, 4> scale(const Tensor<float, 4>&, double, std::size_t);
template Tensor<double, 4> scale(const Tensor<double, 4>&, double, std::size_t);

}  // namespace qkv
