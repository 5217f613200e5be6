// Fault attn-transposed: the weights are transposed before they meet the values.
#include "diagnose/faults.hpp"
#include "diagnose/faults/products.hpp"
#include "diagnose/faults/rearrange.hpp"

namespace qkv::faults {

std::vector<Variant> attn_transposed(const Case& the_case) {
  if (the_case.problem.sizes.L != the_case.problem.sizes.S) return {};
  Variant made;
  made.apply = [](Alteration& a) {
    a.edit("heads", [](const Held& held, const Tensor<double, 4>& right) {
      return product_with_values(exchange_last_axes(held.at("attn")), held.values(), right);
    });
  };
  made.message = "your heads are attnᵀ·v: the sum runs over the queries";
  made.fix = "sum over the keys: attn·v, with the keys as the last axis of attn";
  return {made};
}

}  // namespace qkv::faults
