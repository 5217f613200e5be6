// Fault out-proj-transposed: concat·Woᵀ where concat·Wo was meant, or the other way round.
#include "diagnose/faults.hpp"
#include "diagnose/faults/roles.hpp"

namespace qkv::faults {

std::vector<Variant> out_proj_transposed(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (!problem.sizes.has_wo) return {};
  const bool square = problem.output.in() == problem.output.out();
  Variant made;
  made.apply = [](Alteration& a) { turn_weight(a.problem.output); };
  made.message = square ? "your out is " + product_text(the_case, output_map, true) + ", not " +
                              product_text(the_case, output_map)
                        : "your out takes the memory of wo for the transposed matrix";
  made.fix = "transpose wo once more: " + product_text(the_case, output_map);
  return {made};
}

}  // namespace qkv::faults
