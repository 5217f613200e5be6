// scale-heads: the scores are divided by the root of the number of heads.
#include <cmath>

#include "diagnose/faults.hpp"
#include "qkv/base/text.hpp"
#include "wrong_factor.hpp"

namespace qkv::faults {

std::vector<Variant> scale_heads(const Case& the_case) {
  std::vector<Variant> variants;
  const auto H = static_cast<double>(the_case.problem.sizes.H);
  if (H > 1) {
    wrong_factor(the_case, 1 / std::sqrt(H),
                 "divided by sqrt(" + short_number(H) + "), " + short_number(H) +
                     " being the number of heads",
                 variants);
  }
  return variants;
}

}  // namespace qkv::faults
