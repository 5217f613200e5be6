// wrong_factor(): the scores multiplied by another number than the scale.
#include "wrong_factor.hpp"

#include "qkv/base/text.hpp"
#include "scale_words.hpp"
#include "yours.hpp"

namespace qkv::faults {

void wrong_factor(const Case& the_case, double factor, const std::string& words,
                  std::vector<Variant>& variants) {
  const Problem<double>& problem = the_case.problem;
  if (same_scale(factor, problem.scale)) return;
  variants.push_back(
      {[factor](Alteration& alteration) { alteration.problem.scale = factor; },
       yours(the_case, "scaled") + " scores " + words + ", in place of " + scaling_words(problem),
       how_to_scale(problem) + "; if this factor is meant, ask for it with --scale " +
           short_number(factor)});
}

}  // namespace qkv::faults
