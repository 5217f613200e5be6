// scale-missing: the scores are not scaled.
#include "after_scaled.hpp"
#include "diagnose/faults.hpp"
#include "scale_words.hpp"
#include "yours.hpp"

namespace qkv::faults {

std::vector<Variant> scale_missing(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (same_scale(problem.scale, 1)) return {};
  const std::string fix = how_to_scale(problem) + " before the softmax";
  std::vector<Variant> variants;
  variants.push_back({[](Alteration& alteration) { alteration.problem.scale = 1; },
                      yours(the_case, "scaled") + " scores without " + scaling_words(problem),
                      fix});
  if (the_case.got.contains("scaled") && gave_later(the_case, "scaled")) {
    variants.push_back(
        {[](Alteration& alteration) {
           feed_after_scaled(alteration, [](const Held& held) { return held.at("scores"); });
         },
         "what follows your scaled is made from scores, without " + scaling_words(problem), fix});
  }
  return variants;
}

}  // namespace qkv::faults
