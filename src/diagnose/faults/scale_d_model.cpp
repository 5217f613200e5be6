// scale-d-model: the scores are divided by the root of the model's width.
#include <cmath>
#include <set>

#include "diagnose/faults.hpp"
#include "qkv/base/text.hpp"
#include "wrong_factor.hpp"

namespace qkv::faults {

std::vector<Variant> scale_d_model(const Case& the_case) {
  const Sizes& sizes = the_case.problem.sizes;
  std::vector<Variant> variants;
  std::set<std::size_t> widths;
  for (const std::size_t width :
       {sizes.projects ? sizes.E : 0, sizes.H * sizes.D, sizes.has_context ? sizes.E_context : 0}) {
    // D and 1 are other mistakes: none, and no scale at all.
    if (width <= 1 || width == sizes.D || !widths.insert(width).second) continue;
    const auto number = static_cast<double>(width);
    wrong_factor(the_case, 1 / std::sqrt(number),
                 "divided by sqrt(" + short_number(number) + "), " + short_number(number) +
                     (width == sizes.H * sizes.D ? " being the width of all heads together"
                                                 : " being the width of the input"),
                 variants);
  }
  return variants;
}

}  // namespace qkv::faults
