// Fault heads-not-split: all heads work as one wide head.
#include <cmath>

#include "diagnose/faults.hpp"
#include "diagnose/faults/fused_columns.hpp"
#include "diagnose/faults/rearrange.hpp"
#include "diagnose/faults/rotation.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

/// The wide head rotates as one, with the pairs and frequencies of its own width.
void rotate_whole_width(Alteration& a) {
  for (const std::string stage : {"q", "k"}) {
    a.edit(stage + "_rope", [stage](const Held& held, const Tensor<double, 4>&) {
      const Tensor<double, 4>& x = held.at(stage);
      const Problem<double>& problem = held.problem();
      return rotated(held, x, stage == "q" ? problem.query_positions : problem.key_positions,
                     x.size(3) / 2 * 2);
    });
  }
}

void merge_heads(Alteration& a) {
  for (const char* stage : {"q", "k", "v"}) a.move(stage, merged_heads);
  if (a.problem.settings.rope_base && !a.problem.settings.rope_dim) rotate_whole_width(a);
  if (a.problem.past_k.empty()) return;
  a.problem.past_k = merged_heads(a.problem.past_k);
  a.problem.past_v = merged_heads(a.problem.past_v);
}

using Merge = std::function<void(Alteration&)>;

/// Where wqkv goes head by head, code that knows one head takes a block each for q, k and v.
std::vector<Merge> ways_to_merge(const Case& the_case) {
  std::vector<Merge> ways = {merge_heads};
  const Problem<double>& problem = the_case.problem;
  if (!the_case.inputs->wqkv || problem.settings.qkv_order == QkvOrder::blocks) return ways;
  const auto meant = fused_columns(problem.sizes, problem.settings.qkv_order),
             read = fused_columns(problem.sizes, QkvOrder::blocks);
  ways.push_back([meant, read, with_bias = the_case.inputs->bqkv.has_value()](Alteration& a) {
    reread_columns(meant, read, with_bias, a.problem);
    merge_heads(a);
  });
  return ways;
}

}  // namespace

std::vector<Variant> heads_not_split(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  const Sizes& sizes = problem.sizes;
  // q and k of one wide head must be equally wide, and rank 4 came with its heads. A mask with a
  // head axis has no wide head to fall on.
  if (sizes.H == 1 || sizes.G != sizes.H || sizes.rank_four) return {};
  const auto by_head = [](const auto& mask) { return !mask.empty() && mask.size(1) > 1; };
  if (by_head(problem.visibility.hidden_by_mask) || by_head(problem.visibility.added)) return {};

  const std::size_t width = sizes.H * sizes.D;
  const std::string one_head = "all " + std::to_string(sizes.H) +
                               " heads of your code work as one of width " + std::to_string(width);
  const std::string fix = "split q, k and v into " + std::to_string(sizes.H) +
                          " heads: reshape to (B,L," + std::to_string(sizes.H) + "," +
                          std::to_string(sizes.D) + "), then exchange axes 1 and 2";
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  const bool own_scale = !problem.settings.scale && !problem.settings.temperature;
  std::vector<Variant> variants;
  for (const Merge& merge : ways_to_merge(the_case)) {
    if (own_scale) {
      variants.push_back({[merge, scale](Alteration& a) {
                            merge(a);
                            a.problem.scale = scale;
                          },
                          one_head + ", scaled by 1/sqrt(" + std::to_string(width) + ")", fix});
    }
    variants.push_back({merge, one_head, fix});
  }
  return variants;
}

}  // namespace qkv::faults
