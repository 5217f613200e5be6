// Fault gqa-tiled: query heads read the key/value heads in another order than h / (H/G).
#include <algorithm>

#include "diagnose/faults.hpp"
#include "diagnose/faults/products.hpp"
#include "diagnose/faults/rearrange.hpp"

namespace qkv::faults {

namespace {

using Heads = std::vector<std::size_t>;

/// Reads key/value head heads[h] for query head h, where both counts are those of the problem.
void read_in_order(Alteration& a, const Heads& heads, bool keys, bool values) {
  const auto fits = [heads](const Tensor<double, 4>& by_query, const Tensor<double, 4>& by_key) {
    return by_query.size(1) == heads.size() && std::ranges::max(heads) < by_key.size(1);
  };
  if (keys) {
    a.edit("scores", [heads, fits](const Held& held, const Tensor<double, 4>& right) {
      const Tensor<double, 4> k = held.keys();
      return fits(held.query(), k) ? product_with_keys(held.query(), picked_heads(k, heads), right)
                                   : right;
    });
  }
  if (values) {
    a.edit("heads", [heads, fits](const Held& held, const Tensor<double, 4>& right) {
      const Tensor<double, 4> v = held.values();
      return fits(held.at("attn"), v)
                 ? product_with_values(held.at("attn"), picked_heads(v, heads), right)
                 : right;
    });
  }
}

}  // namespace

std::vector<Variant> gqa_tiled(const Case& the_case) {
  const std::size_t H = the_case.problem.sizes.H, G = the_case.problem.sizes.G;
  if (G == 1 || G == H) return {};
  const std::string groups = std::to_string(H / G);
  const std::string fix = "repeat each key/value head " + groups +
                          " times in a row, so that query head h reads h / " + groups +
                          ": repeat_interleave(" + groups + ", dim=1)";
  Heads tiled, divided;
  for (std::size_t h = 0; h < H; ++h) {
    tiled.push_back(h % G);
    divided.push_back(h / G);
  }
  const std::string text =
      "the heads of your k and v are tiled: query head h reads h % " + std::to_string(G);
  std::vector<Variant> variants;
  variants.push_back({[tiled](Alteration& a) { read_in_order(a, tiled, true, true); }, text, fix});
  variants.push_back({[tiled](Alteration& a) { read_in_order(a, tiled, true, false); },
                      "the heads of your k are tiled, those of v are not", fix});
  variants.push_back({[tiled](Alteration& a) { read_in_order(a, tiled, false, true); },
                      "the heads of your v are tiled, those of k are not", fix});
  if (divided.back() < G) {
    variants.push_back({[divided](Alteration& a) { read_in_order(a, divided, true, true); },
                        "query head h of your code reads key/value head h / " + std::to_string(G),
                        fix});
  }
  return variants;
}

}  // namespace qkv::faults
