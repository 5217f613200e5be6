// mask-scaled: a float mask is added before the scale, and scaled with it.
#include <algorithm>
#include <cmath>

#include "diagnose/faults.hpp"
#include "diagnose/faults/elementwise.hpp"
#include "diagnose/faults/rules.hpp"
#include "diagnose/faults/scale_words.hpp"
#include "diagnose/faults/yours.hpp"

namespace qkv::faults {

namespace {

bool adds_numbers(const Tensor<double, 4>& added) {
  return std::ranges::any_of(added.elements(), [](double v) { return std::isfinite(v) && v != 0; });
}

/// 0 where something was added, and still -Inf where that hides.
Tensor<double, 4> hiding_only(const Tensor<double, 4>& added) {
  return elementwise(added, [](double v) { return std::isfinite(v) ? 0.0 : v; });
}

/// scaled + scale * mask, for code that stores the sum as its scaled scores, or caps it.
StageEdit with_mask(const Tensor<double, 4>& added) {
  return [added](const Held& held, const Tensor<double, 4>& right) {
    if (!broadcasts(added, right)) return right;
    const double scale = held.problem().scale;
    return filled<double>(right.sizes(), [&](auto b, auto h, auto i, auto j) {
      return right(b, h, i, j) + scale * broadcast(added, b, h, i, j);
    });
  };
}

}  // namespace

/// (scores + mask) * scale: the numbers of the mask shrink with the scores.
std::vector<Variant> mask_scaled(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  const Tensor<double, 4>& added = problem.visibility.added;
  if (same_scale(problem.scale, 1) || !adds_numbers(added)) return {};
  const std::string mask = the_case.inputs->mask->where;
  const std::string before = " (scores + mask)·scale: " + mask + " is added before the scale",
                    fix = "add " + mask + " after the scale: scores·scale + mask";
  return {{[](Alteration& a) {
             const double scale = a.problem.scale;
             a.problem.visibility.added =
                 elementwise(a.problem.visibility.added,
                             [scale](double v) { return std::isfinite(v) ? v * scale : v; });
           },
           yours(the_case, "masked") + before, fix},
          {[added](Alteration& a) {
             a.problem.visibility.added = hiding_only(a.problem.visibility.added);
             a.edit("scaled", with_mask(added));
           },
           yours(the_case, "scaled") + before, fix}};
}

}  // namespace qkv::faults
