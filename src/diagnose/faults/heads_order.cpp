// Fault heads-order: channel c belongs to head c % H, not to head c / D.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rearrange.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

void deal(Alteration& a, const std::vector<std::string>& stages) {
  for (const std::string& stage : stages) a.move(stage, dealt_in_turn);
}

}  // namespace

std::vector<Variant> heads_order(const Case& the_case) {
  const Sizes& sizes = the_case.problem.sizes;
  if (sizes.H == 1) return {};
  const bool merges = the_case.has_stage("concat");
  const std::string dealt = " split into (D,H), channel c to head c % " + std::to_string(sizes.H);
  const std::string fix = "split the last axis into (" + std::to_string(sizes.H) + "," +
                          std::to_string(sizes.D) + "), the head in front of its channels";
  const std::vector<std::string> all = {"q", "k", "v"};
  std::vector<Variant> variants;
  if (!sizes.rank_four) {
    variants.push_back(
        {[all](Alteration& a) { deal(a, all); }, "your q, k and v are" + dealt, fix});
    if (merges) {
      variants.push_back({[all](Alteration& a) {
                            deal(a, all);
                            a.take("concat", "heads", merged_in_turn);
                          },
                          "your q, k and v are" + dealt + ", and merged the same way back",
                          fix + ", in the merge too"});
    }
    for (const std::vector<std::string>& some :
         std::vector<std::vector<std::string>>{{"q", "k"}, {"q"}, {"k"}, {"v"}}) {
      variants.push_back({[some](Alteration& a) { deal(a, some); },
                          "your " + listed(some) + (some.size() == 1 ? " is" : " are") + dealt,
                          fix});
    }
  }
  if (merges) {
    variants.push_back({[](Alteration& a) { a.take("concat", "heads", merged_in_turn); },
                        "your concat has the head innermost: channel d·H+h, not h·D+d",
                        "merge (L,H,Dv), the channels of one head side by side"});
  }
  return variants;
}

}  // namespace qkv::faults
