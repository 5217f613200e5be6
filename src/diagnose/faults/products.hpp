// The two products of attention, of stages that were not meant for each other.
#pragma once

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// scores(q, k), or `otherwise` where the shapes do not allow the product, as may be after another
/// mistake.
Tensor<double, 4> product_with_keys(const Tensor<double, 4>& q, const Tensor<double, 4>& k,
                                    const Tensor<double, 4>& otherwise);

/// weighted_sum(attn, v), or `otherwise`.
Tensor<double, 4> product_with_values(const Tensor<double, 4>& attn, const Tensor<double, 4>& v,
                                      const Tensor<double, 4>& otherwise);

}  // namespace qkv
