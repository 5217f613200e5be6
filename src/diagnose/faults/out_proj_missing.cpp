// Fault out-proj-missing: the heads side by side are taken for the output.
#include "diagnose/faults.hpp"
#include "diagnose/faults/roles.hpp"

namespace qkv::faults {

std::vector<Variant> out_proj_missing(const Case& the_case) {
  if (!the_case.problem.sizes.has_wo) return {};
  Variant made;
  made.apply = [](Alteration& a) {
    a.take("out", "concat", [](const Tensor<double, 4>& concat) { return concat; });
  };
  made.message = "your out is concat, before the output projection";
  made.fix = "multiply by wo" +
             std::string(the_case.problem.output.bias.empty() ? "" : " and add bo") + ": " +
             product_text(the_case, output_map);
  return {made};
}

}  // namespace qkv::faults
