// temperature: the temperature that was asked for is not the one in use.
#include <cmath>

#include "diagnose/faults.hpp"
#include "qkv/base/text.hpp"
#include "scale_words.hpp"
#include "wrong_factor.hpp"

namespace qkv::faults {

std::vector<Variant> temperature(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  // --scale wins over --temperature.
  if (!problem.settings.temperature || problem.settings.scale) return {};
  const double wanted = *problem.settings.temperature,
               root = std::sqrt(static_cast<double>(problem.sizes.D));
  std::vector<Variant> variants;
  if (!same_scale(root, 1)) {
    wrong_factor(the_case, 1 / root, "divided by sqrt(D) = " + short_number(root), variants);
    wrong_factor(the_case, 1 / (wanted * root),
                 "divided by the temperature and by sqrt(D) = " + short_number(root) + " as well",
                 variants);
  }
  return variants;
}

}  // namespace qkv::faults
