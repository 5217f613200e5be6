// Fault rope-twice: what has been rotated is rotated again.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rotation.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

void rotate_again(Alteration& a, const std::vector<std::string>& stages) {
  for (const std::string& stage : stages) {
    a.edit(stage + "_rope", [stage](const Held& held, const Tensor<double, 4>& right) {
      const Problem<double>& problem = held.problem();
      return rotated(held, right, stage == "q" ? problem.query_positions : problem.key_positions);
    });
  }
}

/// Keys that were stored rotated are rotated once more, at the places where they stand.
void rotate_cache(Alteration& a) {
  const Held held(a.problem);
  a.problem.past_k =
      rotated(held, a.problem.past_k, counted_positions(a.problem.past_k.size(2), 0));
}

}  // namespace

std::vector<Variant> rope_twice(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (!problem.settings.rope_base) return {};
  std::vector<Variant> variants;
  for (const std::vector<std::string>& some :
       std::vector<std::vector<std::string>>{{"q", "k"}, {"q"}, {"k"}}) {
    variants.push_back(
        {[some](Alteration& a) { rotate_again(a, some); },
         "your " + listed(some) + (some.size() == 1 ? " is" : " are") + " rotated twice",
         "rotate " + listed(some) + " once"});
  }
  if (problem.sizes.P > 0) {
    variants.push_back({rotate_cache, "the keys of your cache are rotated again",
                        "rotate only the new keys: those of the cache have been rotated"});
  }
  return variants;
}

}  // namespace qkv::faults
