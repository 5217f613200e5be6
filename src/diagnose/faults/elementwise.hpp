// elementwise(): a new tensor, each element made from one of another.
#pragma once

#include <algorithm>

#include "qkv/tensor/tensor.hpp"

namespace qkv::faults {

/// y[...] = f(x[...])
template <std::size_t Rank, class Function>
Tensor<double, Rank> elementwise(const Tensor<double, Rank>& x, Function f) {
  auto y = Tensor<double, Rank>::make(x.sizes());
  std::ranges::transform(x.elements(), y.elements().begin(), f);
  return y;
}

}  // namespace qkv::faults
