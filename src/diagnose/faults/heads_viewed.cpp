// Fault heads-viewed: heads are made by a reshape to (B,H,L,D) that mixes positions with channels.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rearrange.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

void view(Alteration& a, const std::vector<std::string>& stages) {
  for (const std::string& stage : stages) a.move(stage, viewed_as_heads);
}

}  // namespace

std::vector<Variant> heads_viewed(const Case& the_case) {
  const Sizes& sizes = the_case.problem.sizes;
  if (sizes.H == 1 || sizes.rank_four) return {};
  const std::string fix = "reshape to (B,L," + std::to_string(sizes.H) + "," +
                          std::to_string(sizes.D) +
                          ") and exchange axes 1 and 2: view(B, L, H, D).transpose(1, 2)";
  const std::vector<std::string> all = {"q", "k", "v"};
  const std::string viewed = " reshaped straight to (B,H,L,D): positions and channels are mixed";
  std::vector<Variant> variants;
  variants.push_back({[all](Alteration& a) { view(a, all); }, "your q, k and v are" + viewed, fix});
  if (the_case.has_stage("concat")) {
    variants.push_back({[all](Alteration& a) {
                          view(a, all);
                          a.take("concat", "heads", viewed_as_merged);
                        },
                        "your q, k and v are" + viewed + ", and merged the same way back",
                        fix + ", and back before the merge"});
  }
  for (const std::vector<std::string>& some :
       std::vector<std::vector<std::string>>{{"q", "k"}, {"q"}, {"k"}, {"v"}}) {
    variants.push_back({[some](Alteration& a) { view(a, some); },
                        "your " + listed(some) + (some.size() == 1 ? " is" : " are") + viewed,
                        fix});
  }
  return variants;
}

}  // namespace qkv::faults
