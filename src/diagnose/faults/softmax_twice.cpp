// softmax-twice: the softmax is applied to weights that are softmax weights already.
#include "diagnose/faults.hpp"
#include "follow.hpp"
#include "qkv/attention/mask.hpp"
#include "qkv/attention/softmax.hpp"
#include "softmax_over.hpp"
#include "yours.hpp"

namespace qkv::faults {

std::vector<Variant> softmax_twice(const Case& the_case) {
  const std::string fix =
      "take one softmax only: a loss or layer that expects logits, or a second "
      "call, applies it again";
  std::vector<Variant> variants;
  variants.push_back(
      {[](Alteration& alteration) {
         alteration.edit("attn", [](const Held&, const Tensor<double, 4>& right) {
           return softmax_over(right, over_keys);
         });
       },
       yours(the_case, "attn") + " the softmax of weights that are a softmax already", fix});
  if (!the_case.problem.visibility.any()) return variants;
  // The mask hides before the second softmax what it hid before the first.
  variants.push_back(
      {[](Alteration& alteration) {
         alteration.edit("attn", [](const Held& held, const Tensor<double, 4>& right) {
           return softmax(mask(right, held.problem().visibility),
                          held.problem().settings.empty_rows, held.problem().sinks);
         });
       },
       yours(the_case, "attn") + " the masked softmax of weights that are a softmax "
                                 "already",
       fix});
  if (given(the_case, "masked") != nullptr) return variants;
  variants.push_back({[](Alteration& alteration) {
                        alteration.edit("masked", [](const Held& held, const Tensor<double, 4>&) {
                          return mask(softmax_over(held.unmasked(), over_keys),
                                      held.problem().visibility);
                        });
                      },
                      yours(the_case, "masked") + " weights that are a softmax already", fix});
  return variants;
}

}  // namespace qkv::faults
