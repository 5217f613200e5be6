// Fault rope-on-v: the values are rotated like the keys.
#include <algorithm>

#include "diagnose/faults.hpp"
#include "diagnose/faults/products.hpp"
#include "diagnose/faults/rotation.hpp"
#include "diagnose/rotation_variance.hpp"
#include "qkv/attention/cache.hpp"

namespace qkv::faults {

std::vector<Variant> rope_on_v(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (!problem.settings.rope_base || problem.sizes.Dv < 2) return {};
  // Where v is narrower or wider than k, all of it rotates unless a number was asked for.
  const std::size_t Dv = problem.sizes.Dv;
  const std::size_t channels = std::min(problem.settings.rope_dim.value_or(Dv), Dv) / 2 * 2;
  const std::string fix = "rotate q and k only";
  std::vector<Variant> variants;
  variants.push_back({[channels](Alteration& a) {
                        a.edit(
                            "v",
                            [channels](const Held& held, const Tensor<double, 4>& right) {
                              return rotated(held, right, held.problem().key_positions, channels);
                            },
                            [](const Held& held, const Tensor<double, 4>& value) {
                              return angle_variance(value, held.problem().key_positions);
                            });
                      },
                      "your v is rotated by position", fix});
  variants.push_back(
      {[channels](Alteration& a) {
         a.edit("heads", [channels](const Held& held, const Tensor<double, 4>& right) {
           const Problem<double>& altered = held.problem();
           const Tensor<double, 4> turned =
               rotated(held, held.at("v"), altered.key_positions, channels);
           return product_with_values(held.at("attn"), append(altered.past_v, turned), right);
         });
       },
       "your heads are attn·v with v rotated by position", fix});
  return variants;
}

}  // namespace qkv::faults
