// scale-twice: the scale is applied twice.
#include "after_scaled.hpp"
#include "diagnose/faults.hpp"
#include "qkv/attention/scale.hpp"
#include "qkv/base/text.hpp"
#include "scale_words.hpp"
#include "yours.hpp"

namespace qkv::faults {

std::vector<Variant> scale_twice(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (same_scale(problem.scale, 1)) return {};
  const std::string square = short_number(problem.scale * problem.scale);
  const std::string fix =
      how_to_scale(problem) +
      " in one place only: not in the projection of q and again beside the product";
  std::vector<Variant> variants;
  variants.push_back(
      {[](Alteration& alteration) { alteration.problem.scale *= alteration.problem.scale; },
       yours(the_case, "scaled") + " scores multiplied by " + square + " = " +
           short_number(problem.scale) + "²: " + scaling_words(problem) + " was made twice",
       fix});
  if (the_case.got.contains("scaled") && gave_later(the_case, "scaled")) {
    variants.push_back({[](Alteration& alteration) {
                          feed_after_scaled(alteration, [](const Held& held) {
                            return scale(held.at("scaled"), held.problem().scale);
                          });
                        },
                        "what follows your scaled is made from scaled multiplied by " +
                            short_number(problem.scale) + " once more",
                        fix});
  }
  return variants;
}

}  // namespace qkv::faults
