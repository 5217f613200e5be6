// padding-on-queries: the padding hides queries in place of keys.
#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/rules.hpp"

namespace qkv::faults {

namespace {

/// Query i is token P + i: hidden[b,h,i,·] = what these rules hide at key P + i.
Tensor<std::uint8_t, 4> as_queries(const Visibility<double>& visibility, const RuleSet& rules,
                                   std::size_t P) {
  const Tensor<std::uint8_t, 4> hidden = hidden_by(only(visibility, rules));
  return filled<std::uint8_t>({hidden.size(0), hidden.size(1), visibility.L, 1},
                              [&](std::size_t b, std::size_t h, std::size_t i, std::size_t) {
                                return hidden(b, h, 0, P + i);
                              });
}

}  // namespace

/// A padding of shape (B,1,L,1) in place of (B,1,1,S), where queries and keys are the same tokens;
/// or one of each. A mask with keys alone, (B,1,1,S), is a padding too.
std::vector<Variant> padding_on_queries(const Case& the_case) {
  const Visibility<double>& visibility = the_case.problem.visibility;
  const Sizes& sizes = the_case.problem.sizes;
  std::vector<Variant> variants;
  if (sizes.L < 2 || sizes.new_keys() != sizes.L) return variants;
  const RuleSet all = rules_of(visibility);
  const bool by_key =
      all.mask && visibility.added.empty() && visibility.hidden_by_mask.size(2) == 1;
  for (const RuleSet& rules :
       together({.mask = by_key, .padding = all.padding, .lengths = all.lengths})) {
    for (const bool keys_too : {false, true}) {
      add_rule_mistake(
          the_case,
          [rules, keys_too, P = sizes.P](Visibility<double>& v) {
            const auto queries = as_queries(v, rules, P);
            if (keys_too) {
              also_hide(v, queries);
            } else {
              hide_in_place_of(v, rules, queries);
            }
          },
          "your code applies " + words(rules) +
              (keys_too ? " to queries besides keys: rows of padding see nothing"
                        : " to queries in place of keys: rows of padding see nothing, and every "
                          "other row sees the padding"),
          "shape the padding (B,1,1,S), so that it hides columns, not (B,1,L,1)", variants);
    }
  }
  return variants;
}

}  // namespace qkv::faults
