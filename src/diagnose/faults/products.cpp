// The two products of attention, of stages that were not meant for each other.
#include "diagnose/faults/products.hpp"

#include "qkv/attention/scores.hpp"
#include "qkv/attention/weighted_sum.hpp"

namespace qkv {

namespace {

bool heads_fit(const Tensor<double, 4>& by_query, const Tensor<double, 4>& by_key) {
  return by_query.size(0) == by_key.size(0) && by_key.size(1) > 0 &&
         by_query.size(1) % by_key.size(1) == 0;
}

}  // namespace

Tensor<double, 4> product_with_keys(const Tensor<double, 4>& q, const Tensor<double, 4>& k,
                                    const Tensor<double, 4>& otherwise) {
  return heads_fit(q, k) && q.size(3) == k.size(3) ? scores(q, k) : otherwise;
}

Tensor<double, 4> product_with_values(const Tensor<double, 4>& attn, const Tensor<double, 4>& v,
                                      const Tensor<double, 4>& otherwise) {
  return heads_fit(attn, v) && attn.size(3) == v.size(2) ? weighted_sum(attn, v) : otherwise;
}

}  // namespace qkv
