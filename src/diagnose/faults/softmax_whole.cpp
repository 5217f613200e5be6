// softmax-whole: one softmax over the whole tensor, or over queries and keys together.
#include <string>

#include "diagnose/faults.hpp"
#include "softmax_over.hpp"
#include "yours.hpp"

namespace qkv::faults {

namespace {

Variant over(const Case& the_case, const Axes& axes, const std::string& what) {
  return {[axes](Alteration& alteration) {
            alteration.edit("attn", [axes](const Held& held, const Tensor<double, 4>&) {
              return softmax_over(held.logits(), axes);
            });
          },
          yours(the_case, "attn") + " one softmax over " + what + ", not one for each query",
          "take the softmax over the last axis alone, so that every query's weights sum to 1: "
          "softmax(x, axis=-1)"};
}

}  // namespace

std::vector<Variant> softmax_whole(const Case& the_case) {
  const Sizes& sizes = the_case.problem.sizes;
  std::vector<Variant> variants;
  if (sizes.L > 1)
    variants.push_back(over(the_case, {false, false, true, true}, "queries and keys together"));
  if (sizes.H > 1)
    variants.push_back(
        over(the_case, {false, true, true, true}, "heads, queries and keys together"));
  if (sizes.B > 1) variants.push_back(over(the_case, {true, true, true, true}, "the whole tensor"));
  return variants;
}

}  // namespace qkv::faults
