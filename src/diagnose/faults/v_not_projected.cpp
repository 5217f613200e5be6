// Fault v-not-projected: the values are the input itself, cut into heads.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rearrange.hpp"
#include "diagnose/faults/roles.hpp"

namespace qkv::faults {

std::vector<Variant> v_not_projected(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (!problem.sizes.projects || problem.value.in() != problem.value.out()) return {};
  const Role& value = projections[2];
  const std::string source = source_of(the_case, value);
  Variant made;
  made.apply = [source, G = problem.sizes.G](Alteration& a) {
    a.take("v", source, [G](const Tensor<double, 4>& x) { return divided_heads(x, G); });
  };
  made.message = "your v is " + source + " itself, not projected";
  made.fix =
      "make v of " + product_text(the_case, value) + (problem.value.bias.empty() ? "" : " + bv");
  return {made};
}

}  // namespace qkv::faults
