// mask-after-softmax: hidden weights are zeroed after the softmax, and the others not raised.
#include <cmath>

#include "diagnose/faults.hpp"
#include "diagnose/faults/rules.hpp"
#include "qkv/attention/mask.hpp"
#include "qkv/attention/softmax.hpp"

namespace qkv::faults {

namespace {

/// The weights with a number in place of those of hidden keys.
Tensor<double, 4> spoilt(const Tensor<double, 4>& attn, const Tensor<std::uint8_t, 4>& hidden,
                         double number) {
  if (!broadcasts(hidden, attn)) return attn;
  return filled<double>(attn.sizes(),
                        [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
                          return broadcast(hidden, b, h, i, j) != 0 ? number : attn(b, h, i, j);
                        });
}

/// What the user's weights of hidden keys are: 0, or the fill of scores put among weights.
double number_in_use(const Case& the_case, const Tensor<std::uint8_t, 4>& hidden) {
  const auto found = the_case.got.find("attn");
  if (found == the_case.got.end() || !found->second.fits) return 0;
  const Tensor<double, 4>& attn = found->second.value;
  for (std::size_t b = 0; b < attn.size(0); ++b) {
    for (std::size_t h = 0; h < attn.size(1); ++h) {
      for (std::size_t i = 0; i < attn.size(2); ++i) {
        for (std::size_t j = 0; j < attn.size(3); ++j) {
          if (broadcast(hidden, b, h, i, j) == 0) continue;
          const double number = attn(b, h, i, j);
          return number <= -1e3 ? number : 0;
        }
      }
    }
  }
  return 0;
}

}  // namespace

/// attn = softmax(scores) where the key is visible, 0 elsewhere: rows sum to less than 1. Its code
/// has no stage `masked`, or calls the unmasked scores so; or it has a right one and does not use
/// it.
std::vector<Variant> mask_after_softmax(const Case& the_case) {
  const Visibility<double>& visibility = the_case.problem.visibility;
  std::vector<Variant> variants;
  for (const RuleSet& rules : together(rules_of(visibility))) {
    const double number = number_in_use(the_case, hidden_by(only(visibility, rules)));
    const std::string message = "your code applies " + words(rules) +
                                " to the weights after the softmax: what is left does not sum to 1";
    const std::string fix =
        "move " + words(rules) +
        " before the softmax: set hidden scores to -inf, not hidden weights to 0";
    variants.push_back({[rules, number](Alteration& a) {
                          const auto hidden = hidden_by(only(a.problem.visibility, rules));
                          a.problem.visibility = without(a.problem.visibility, rules);
                          a.edit("attn", [hidden, number](const Held&, const auto& right) {
                            return spoilt(right, hidden, number);
                          });
                        },
                        message, fix});
    if (!the_case.got.contains("masked")) continue;
    variants.push_back({[rules, number](Alteration& a) {
                          a.edit("attn", [rules, number](const Held& held, const auto& right) {
                            const Visibility<double>& all = held.problem().visibility;
                            if (!fits(right, all)) return right;
                            const Visibility<double> rest = without(all, rules);
                            auto attn = softmax(mask(held.unmasked(), rest), all.empty_rows,
                                                held.problem().sinks);
                            settle_empty_rows(attn, rest);
                            return spoilt(attn, hidden_by(only(all, rules)), number);
                          });
                        },
                        message, fix});
  }
  return variants;
}

}  // namespace qkv::faults
