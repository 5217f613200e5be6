// Fault rope-axis: positions are counted along another axis than the length.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rearrange.hpp"
#include "diagnose/faults/rotation.hpp"
#include "qkv/attention/split_heads.hpp"

namespace qkv::faults {

namespace {

/// Rotates q and k with the axis that `exchange` brings to the place of the length as positions.
void rotate_along(Alteration& a, Tensor<double, 4> (*exchange)(const Tensor<double, 4>&)) {
  for (const char* stage : {"q", "k"}) {
    a.edit(std::string(stage) + "_rope",
           [stage, exchange](const Held& held, const Tensor<double, 4>&) {
             const Tensor<double, 4> along = exchange(held.unrotated(stage));
             return exchange(rotated(held, along, counted_positions(along.size(2), 0)));
           });
  }
}

/// Rotates head 0 alone; the others stay as they were.
void rotate_first_head(Alteration& a) {
  for (const std::string stage : {"q", "k"}) {
    a.edit(stage + "_rope", [stage](const Held& held, const Tensor<double, 4>& right) {
      const Tensor<double, 4>& x = held.unrotated(stage);
      if (x.sizes() != right.sizes()) return right;
      Tensor<double, 4> y = x.clone();
      for (std::size_t b = 0; b < x.size(0); ++b) {
        for (std::size_t l = 0; l < x.size(2); ++l)
          std::ranges::copy(right.row(b, 0, l), y.row(b, 0, l).begin());
      }
      return y;
    });
  }
}

}  // namespace

std::vector<Variant> rope_axis(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (!problem.settings.rope_base) return {};
  const std::string fix = "count positions along the length, axis 2 of (B,H,L,D)";
  std::vector<Variant> variants;
  if (problem.sizes.H > 1) {
    variants.push_back({[](Alteration& a) { rotate_along(a, exchange_heads_and_length<double>); },
                        "your q and k are rotated by the index of the head, not by position", fix});
  }
  if (problem.sizes.B > 1) {
    variants.push_back({[](Alteration& a) { rotate_along(a, exchange_batch_and_length); },
                        "your q and k are rotated by the index in the batch, not by position",
                        fix});
  }
  if (problem.sizes.H > 1) {
    variants.push_back({rotate_first_head, "only head 0 of your q and k is rotated",
                        "rotate every head: cosines and sines apply to all of them"});
  }
  return variants;
}

}  // namespace qkv::faults
