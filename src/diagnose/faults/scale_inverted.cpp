// scale-inverted: the scores are multiplied by the root of D.
#include <cmath>

#include "diagnose/faults.hpp"
#include "qkv/base/text.hpp"
#include "scale_words.hpp"
#include "wrong_factor.hpp"

namespace qkv::faults {

std::vector<Variant> scale_inverted(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  const double inverse = 1 / problem.scale, root = std::sqrt(static_cast<double>(problem.sizes.D));
  std::vector<Variant> variants;
  if (!same_scale(root, 1)) {
    wrong_factor(the_case, root, "multiplied by sqrt(D) = " + short_number(root), variants);
  }
  if (!same_scale(inverse, 1) && !same_scale(inverse, root)) {
    wrong_factor(the_case, inverse,
                 "multiplied by " + short_number(inverse) + ", the inverse of the scale", variants);
  }
  return variants;
}

}  // namespace qkv::faults
