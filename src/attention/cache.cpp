// The cache: past keys and values stand before the new ones.
#include "qkv/attention/cache.hpp"

#include <algorithm>

namespace qkv {

template <class T>
Tensor<T, 4> append(const Tensor<T, 4>& past, const Tensor<T, 4>& now) {
  if (past.empty()) return now;
  const std::size_t B = now.size(0), G = now.size(1), P = past.size(2), N = now.size(2),
                    D = now.size(3);
  auto y = Tensor<T, 4>::make({B, G, P + N, D});
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t g = 0; g < G; ++g) {
      for (std::size_t s = 0; s < P; ++s)
        std::ranges::copy(past.row(b, g, s), y.row(b, g, s).begin());
      for (std::size_t s = 0; s < N; ++s)
        std::ranges::copy(now.row(b, g, s), y.row(b, g, P + s).begin());
    }
  }
  return y;
}

template Tensor<float, 4> append(const Tensor<float, 4>&, const Tensor<float, 4>&);
template Tensor<double, 4> append(const Tensor<double, 4>&, const Tensor<double, 4>&);

}  // namespace qkv
