// qk-norm-missing: queries, keys or both go into the scores as they are.
#include "diagnose/faults.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

std::vector<Variant> qk_norm_missing(const Case& the_case) {
  if (!the_case.problem.settings.qk_norm) return {};
  std::vector<Variant> variants;
  for (const std::vector<std::string>& some :
       std::vector<std::vector<std::string>>{{"q", "k"}, {"q"}, {"k"}}) {
    Variant made;
    made.apply = [some](Alteration& a) {
      for (const std::string& stage : some)
        a.take(stage + "_norm", stage, [](const Tensor<double, 4>& x) { return x; });
    };
    made.message = "your " + listed(some) + (some.size() == 1 ? " is" : " are") + " not normalised";
    made.fix = "normalise each head of " + listed(some) + " before the rotation and the product";
    variants.push_back(std::move(made));
  }
  return variants;
}

}  // namespace qkv::faults
