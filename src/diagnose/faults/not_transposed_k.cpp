// Fault not-transposed-k: q meets k as it is, or k reshaped, in place of k transposed.
#include "diagnose/faults.hpp"
#include "diagnose/faults/products.hpp"
#include "diagnose/faults/rearrange.hpp"

namespace qkv::faults {

std::vector<Variant> not_transposed_k(const Case& the_case) {
  const Sizes& sizes = the_case.problem.sizes;
  if (sizes.S < 2 || sizes.D < 2) return {};
  // scores() transposes what it is given: transposed once before, k stands as it was. Where S is
  // not D, only a reshape of k to (D,S) fits, and where it is, the reshape changes nothing.
  Variant made;
  made.apply = [](Alteration& a) {
    a.edit("scores", [](const Held& held, const Tensor<double, 4>& right) {
      const Tensor<double, 4> k = held.keys();
      return product_with_keys(
          held.query(),
          exchange_last_axes(k.reshaped<4>({k.size(0), k.size(1), k.size(3), k.size(2)})), right);
    });
  };
  made.message = sizes.S == sizes.D
                     ? "your scores are q·k, not q·kᵀ"
                     : "your scores are q·k with k reshaped to (D,S), not transposed";
  made.fix = "exchange the last two axes of k before the product: k.transpose(-2, -1)";
  return {made};
}

}  // namespace qkv::faults
