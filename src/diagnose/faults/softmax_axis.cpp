// softmax-axis: the softmax runs over another axis than the keys.
#include <limits>
#include <string>

#include "diagnose/faults.hpp"
#include "softmax_over.hpp"
#include "yours.hpp"

namespace qkv::faults {

namespace {

struct Axis {
  std::string name;
  Axes axes;
};

/// Axes that the scores have, those of more than one element first. Over a single element every
/// weight is 1, whichever axis it was, so one of these is enough.
std::vector<Axis> other_axes(const Sizes& sizes) {
  std::vector<Axis> found;
  if (sizes.L > 1) found.push_back({"the query axis", {false, false, true, false}});
  if (sizes.H > 1) found.push_back({"the head axis", {false, true, false, false}});
  if (sizes.B > 1) found.push_back({"the batch axis", {true, false, false, false}});
  if (sizes.B > 1 && sizes.H > 1)
    found.push_back({"batch and heads together", {true, true, false, false}});
  const std::string single = ", which has a single element";
  if (sizes.L == 1) {
    found.push_back({"the query axis" + single, {false, false, true, false}});
  } else if (sizes.H == 1 && sizes.has_heads) {
    found.push_back({"the head axis" + single, {false, true, false, false}});
  } else if (sizes.B == 1 && sizes.has_batch) {
    found.push_back({"the batch axis" + single, {true, false, false, false}});
  }
  return found;
}

}  // namespace

std::vector<Variant> softmax_axis(const Case& the_case) {
  const Sizes& sizes = the_case.problem.sizes;
  std::vector<Variant> variants;
  for (const auto& [name, axes] : other_axes(sizes)) {
    const std::string message =
        yours(the_case, "attn") + " the softmax over " + name + ", not over the keys";
    const std::string fix = "take the softmax over the last axis, the keys: softmax(x, axis=-1)";
    const auto add = [&, over = axes](double of_nothing) {
      variants.push_back({[over, of_nothing](Alteration& alteration) {
                            alteration.edit("attn", [=](const Held& held, const auto&) {
                              return softmax_over(held.logits(), over, of_nothing);
                            });
                          },
                          message, fix});
    };
    // A key that no query sees: 0/0 without a care, 0 in a guarded softmax, and equal weights where
    // the fill is a finite number. NaN in every query's row tells no axis from another unless the
    // weights themselves are given.
    const bool hides_all = hides_all_together(the_case.problem.visibility, axes);
    if (hides_all && the_case.got.contains("attn")) add(std::numeric_limits<double>::quiet_NaN());
    // Another mistake, made before, may hide more than the right rules do.
    add(0);
    if (!hides_all) continue;
    const double together = static_cast<double>((axes[0] ? sizes.B : 1) * (axes[1] ? sizes.H : 1) *
                                                (axes[2] ? sizes.L : 1));
    add(1 / together);
  }
  return variants;
}

}  // namespace qkv::faults
