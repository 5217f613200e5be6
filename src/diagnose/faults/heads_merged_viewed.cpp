// Fault heads-merged-viewed: (B,H,L,Dv) is reshaped to (B,L,H·Dv) with the head axis still in
// front.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rearrange.hpp"

namespace qkv::faults {

std::vector<Variant> heads_merged_viewed(const Case& the_case) {
  if (the_case.problem.sizes.H == 1 || !the_case.has_stage("concat")) return {};
  Variant made;
  made.apply = [](Alteration& a) { a.take("concat", "heads", viewed_as_merged); };
  made.message = "your concat is heads reshaped with the head axis still in front of the positions";
  made.fix = "exchange axes 1 and 2 of heads before the reshape: transpose(1, 2).reshape(B, L, -1)";
  return {made};
}

}  // namespace qkv::faults
