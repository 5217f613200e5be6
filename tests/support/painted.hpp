// painted(): tensors in which every element has its own value, so that no swap of axes goes unseen.
#pragma once

#include <cstddef>

#include "qkv/tensor/tensor.hpp"

namespace qkv::test {

/// element n = ((n * stride + 17) mod 251 - 125) / 64: exact in float and float16, in
/// [-1.96, 1.96], period 251 (a prime). Give each tensor a stride of its own that is no multiple of
/// 251.
template <class T, std::size_t Rank>
Tensor<T, Rank> painted(const std::array<std::size_t, Rank>& sizes, std::size_t stride) {
  auto tensor = Tensor<T, Rank>::make(sizes);
  std::size_t n = 0;
  for (T& value : tensor.elements()) {
    value = static_cast<T>(static_cast<double>((n * stride + 17) % 251) - 125.0) / T(64);
    ++n;
  }
  return tensor;
}

}  // namespace qkv::test
