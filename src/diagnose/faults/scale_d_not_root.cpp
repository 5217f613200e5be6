// scale-d-not-root: the scores are divided by D, not by its root.
#include "diagnose/faults.hpp"
#include "qkv/base/text.hpp"
#include "wrong_factor.hpp"

namespace qkv::faults {

std::vector<Variant> scale_d_not_root(const Case& the_case) {
  std::vector<Variant> variants;
  const auto D = static_cast<double>(the_case.problem.sizes.D);
  if (D > 1) wrong_factor(the_case, 1 / D, "divided by D = " + short_number(D), variants);
  return variants;
}

}  // namespace qkv::faults
