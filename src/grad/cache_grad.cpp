// Back through y = [past, now].
#include "qkv/grad/cache_grad.hpp"

#include <algorithm>

namespace qkv {

template <class T>
CacheGrad<T> cache_grad(const Tensor<T, 4>& dy, std::size_t P) {
  if (P == 0) return {{}, dy};
  const std::size_t B = dy.size(0), G = dy.size(1), N = dy.size(2) - P, D = dy.size(3);
  CacheGrad<T> grad{Tensor<T, 4>::make({B, G, P, D}), Tensor<T, 4>::make({B, G, N, D})};
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t g = 0; g < G; ++g) {
      for (std::size_t s = 0; s < P; ++s)
        std::ranges::copy(dy.row(b, g, s), grad.past.row(b, g, s).begin());
      for (std::size_t s = 0; s < N; ++s)
        std::ranges::copy(dy.row(b, g, P + s), grad.now.row(b, g, s).begin());
    }
  }
  return grad;
}

template CacheGrad<float> cache_grad(const Tensor<float, 4>&, std::size_t);
template CacheGrad<double> cache_grad(const Tensor<double, 4>&, std::size_t);

}  // namespace qkv
