// Fault kv-swapped: keys and values are exchanged.
#include <utility>

#include "diagnose/faults.hpp"
#include "diagnose/faults/products.hpp"
#include "diagnose/faults/rotation.hpp"
#include "qkv/attention/cache.hpp"

namespace qkv::faults {

namespace {

/// k and v themselves are exchanged, those of the cache with them or not.
void exchange(Problem<double>& problem, bool with_cache) {
  if (problem.sizes.projects) {
    std::swap(problem.key, problem.value);
  } else {
    std::swap(problem.k, problem.v);
  }
  if (with_cache) std::swap(problem.past_k, problem.past_v);
}

}  // namespace

std::vector<Variant> kv_swapped(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (problem.sizes.D != problem.sizes.Dv) return {};
  const std::string called =
      "your scores are q·vᵀ and your heads attn·k: keys and values are exchanged";
  std::vector<Variant> variants;
  variants.push_back({[](Alteration& a) {
                        a.edit("scores", [](const Held& held, const Tensor<double, 4>& right) {
                          return product_with_keys(held.query(), held.values(), right);
                        });
                        a.edit("heads", [](const Held& held, const Tensor<double, 4>& right) {
                          return product_with_values(held.at("attn"), held.keys(), right);
                        });
                      },
                      called, "pass the keys first, then the values"});
  if (problem.settings.rope_base) {
    variants.push_back({[](Alteration& a) {
                          a.edit("k_rope", [](const Held& held, const Tensor<double, 4>&) {
                            return rotated(held, held.at("v"), held.problem().key_positions);
                          });
                          a.edit("heads", [](const Held& held, const Tensor<double, 4>& right) {
                            return product_with_values(held.at("attn"),
                                                       append(held.problem().past_v, held.at("k")),
                                                       right);
                          });
                        },
                        called, "pass the keys first, then the values"});
  }
  // A fused weight whose k and v columns change places is read in another order: fused-qkv-order.
  if (the_case.inputs != nullptr && the_case.inputs->wqkv) return variants;
  const std::string made = problem.sizes.projects ? "your k is made with wv and your v with wk"
                                                  : "your k is v, and your v is k";
  const std::string fix = problem.sizes.projects ? "exchange wk and wv" : "exchange k and v";
  variants.push_back({[](Alteration& a) { exchange(a.problem, false); }, made, fix});
  if (problem.sizes.P > 0)
    variants.push_back({[](Alteration& a) { exchange(a.problem, true); }, made, fix});
  return variants;
}

}  // namespace qkv::faults
