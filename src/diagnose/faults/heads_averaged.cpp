// Fault heads-averaged: the weights are the mean over the heads.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rearrange.hpp"

namespace qkv::faults {

std::vector<Variant> heads_averaged(const Case& the_case) {
  const std::size_t H = the_case.problem.sizes.H;
  if (H == 1) return {};
  const auto everywhere = [H](const Tensor<double, 4>& attn) {
    return picked_heads(mean_over_heads(attn), std::vector<std::size_t>(attn.size(1), 0));
  };
  const auto first = [](const Tensor<double, 4>& attn) { return picked_heads(attn, {0}); };
  const std::string shown = "your attn is the mean over the " + std::to_string(H) +
                            " heads, while the heads were made with their own weights",
                    show_own = "ask for the weights of each head: average_attn_weights=False";
  const std::string product = "your heads are made with the mean of attn over the heads";
  const std::string fix = "give each head its own weights: no mean before the product with v";
  std::vector<Variant> variants;
  variants.push_back({[](Alteration& a) { a.show("attn", mean_over_heads); }, shown, show_own});
  variants.push_back(
      {[everywhere](Alteration& a) { a.show("attn", everywhere); }, shown, show_own});
  variants.push_back({[everywhere](Alteration& a) { a.move("attn", everywhere); }, product, fix});
  variants.push_back({[everywhere, first](Alteration& a) {
                        a.move("attn", everywhere);
                        a.show("attn", first);
                      },
                      product, fix});
  return variants;
}

}  // namespace qkv::faults
