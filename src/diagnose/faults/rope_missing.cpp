// Fault rope-missing: q, k or both are not rotated.
#include "diagnose/faults.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

std::vector<Variant> rope_missing(const Case& the_case) {
  if (!the_case.problem.settings.rope_base) return {};
  std::vector<Variant> variants;
  for (const std::vector<std::string>& some :
       std::vector<std::vector<std::string>>{{"q", "k"}, {"q"}, {"k"}}) {
    Variant made;
    made.apply = [some](Alteration& a) {
      const std::string before = a.problem.settings.qk_norm ? "_norm" : "";
      for (const std::string& stage : some)
        a.take(stage + "_rope", stage + before, [](const Tensor<double, 4>& x) { return x; });
    };
    made.message =
        "your " + listed(some) + (some.size() == 1 ? " is" : " are") + " not rotated by position";
    made.fix = "rotate " + listed(some) + " before the product";
    variants.push_back(std::move(made));
  }
  return variants;
}

}  // namespace qkv::faults
