// mask-inverted: what True means in a mask is turned round.
#include <algorithm>
#include <functional>

#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/rules.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

/// Added values at or below this hide as -Inf does: exp(-1e4) is 0 in every type.
constexpr double as_good_as_hidden = -1e4;

/// True where a mask that is added says nothing but keep (0) and hide.
bool keeps_or_hides(const Tensor<double, 4>& added) {
  return std::ranges::all_of(added.elements(),
                             [](double v) { return v == 0 || v <= as_good_as_hidden; });
}

Tensor<std::uint8_t, 4> inverse(const Visibility<double>& part) {
  Tensor<std::uint8_t, 4> hidden;
  if (part.added.empty()) {
    hidden = hidden_by(part).clone();
  } else {
    hidden = filled<std::uint8_t>(
        part.added.sizes(),
        [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) -> std::uint8_t {
          return part.added(b, h, i, j) <= as_good_as_hidden ? 1 : 0;
        });
  }
  for (std::uint8_t& element : hidden.elements()) element = element != 0 ? 0 : 1;
  return hidden;
}

void invert(Visibility<double>& visibility, const RuleSet& rules) {
  for (const RuleSet& one : {RuleSet{.mask = rules.mask}, RuleSet{.padding = rules.padding},
                             RuleSet{.lengths = rules.lengths}}) {
    const Visibility<double> part = only(visibility, one);
    if (part.any()) hide_in_place_of(visibility, one, inverse(part));
  }
}

std::string mend(const RuleSet& rules) {
  std::vector<std::string> flags;
  if (rules.mask) flags.emplace_back("--mask-true");
  if (rules.padding) flags.emplace_back("--padding-true");
  std::string fix = "invert " + words(rules) + " before it is used";
  if (!flags.empty()) {
    fix += "; if your reading is the right one, give " + listed(flags) + " the other meaning";
  }
  return fix;
}

}  // namespace

std::vector<Variant> mask_inverted(const Case& the_case) {
  const Visibility<double>& visibility = the_case.problem.visibility;
  RuleSet all = rules_of(visibility);
  if (!visibility.added.empty() && !keeps_or_hides(visibility.added)) all.mask = false;
  std::vector<Variant> variants;
  for (const RuleSet& rules :
       together({.mask = all.mask, .padding = all.padding, .lengths = all.lengths})) {
    add_rule_mistake(
        the_case, [rules](Visibility<double>& v) { invert(v, rules); },
        "your code hides what " + words(rules) + " keeps, and keeps what it hides", mend(rules),
        variants);
  }
  return variants;
}

}  // namespace qkv::faults
