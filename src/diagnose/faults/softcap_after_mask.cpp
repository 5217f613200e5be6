// softcap-after-mask: the cap is applied after the mask and lifts hidden scores.
#include "diagnose/faults.hpp"
#include "qkv/attention/mask.hpp"
#include "qkv/attention/softcap.hpp"
#include "qkv/attention/softmax.hpp"
#include "qkv/base/text.hpp"
#include "softmax_over.hpp"
#include "yours.hpp"

namespace qkv::faults {

namespace {

Tensor<double, 4> masked_only(const Held& held) {
  return mask(held.at("scaled"), held.problem().visibility);
}

Tensor<double, 4> masked_then_capped(const Held& held) {
  return softcap(masked_only(held), *held.problem().settings.softcap);
}

}  // namespace

std::vector<Variant> softcap_after_mask(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (!problem.settings.softcap || !problem.visibility.any()) return {};
  const std::string cap = short_number(*problem.settings.softcap);
  const std::string message = yours(the_case, "masked") +
                              " capped after the mask: hidden scores become -" + cap +
                              " and take part in the softmax";
  const std::string fix = "cap first, then hide: mask(" + cap + "·tanh(scaled/" + cap + "))";

  // The last tensor before the softmax goes by the name of masked, of capped, or of both. A query
  // that sees no key has equal logits then, and equal weights unless a guard clears its row.
  const auto capped_last = [](const Held& held, const Tensor<double, 4>&) {
    return masked_then_capped(held);
  };
  const auto from_capped = [](const Held& held, const auto&) {
    return softmax_over(held.at("capped"), over_keys);
  };
  const auto from_logits = [](const Held& held, const auto&) {
    return softmax_over(held.logits(), over_keys);
  };
  const bool shows_capped = the_case.got.contains("capped");
  std::vector<Variant> variants;
  // Another mistake, made before, may leave queries without a key where the right rules do not.
  for (const bool guarded : {false, true}) {
    variants.push_back({[=](Alteration& alteration) {
                          alteration.edit("masked", capped_last);
                          if (!guarded) alteration.edit("attn", from_logits);
                        },
                        message, fix});
    if (!shows_capped) continue;
    variants.push_back({[=](Alteration& alteration) {
                          alteration.edit("capped", capped_last);
                          alteration.edit("masked", [](const Held& held, const auto&) {
                            return held.at("capped");
                          });
                          if (!guarded) alteration.edit("attn", from_capped);
                        },
                        message, fix});
  }
  if (shows_capped) {
    variants.push_back({[=](Alteration& alteration) {
                          alteration.edit("capped", capped_last);
                          alteration.edit("masked", [](const Held& held, const auto&) {
                            return masked_only(held);
                          });
                          alteration.edit("attn", from_capped);
                        },
                        message, fix});
  }
  return variants;
}

}  // namespace qkv::faults
