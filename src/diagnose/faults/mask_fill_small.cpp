// mask-fill-small: the fill of hidden scores is too small to hide them.
#include <cmath>

#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/fill_fit.hpp"
#include "diagnose/faults/rules.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

/// -Inf of a mask that is added becomes a rule that hides, so that the fill takes its place.
void hide_by_rule(Visibility<double>& visibility) {
  if (visibility.added.empty()) return;
  const Visibility<double> mask = only(visibility, {.mask = true});
  const auto hidden = hidden_by(mask);
  const Tensor<double, 4> before = visibility.added;
  visibility.added = filled<double>(
      before.sizes(), [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
        return std::isfinite(before(b, h, i, j)) ? before(b, h, i, j) : 0.0;
      });
  also_hide(visibility, hidden);
}

void fill_with(Alteration& a, const RuleSet& rules, const FittedFill& fill) {
  Visibility<double>& visibility = a.problem.visibility;
  if (fill.is_added) {
    add_in_place_of(visibility, rules, 0, fill.number);
    return;
  }
  if (rules == rules_of(visibility)) {
    hide_by_rule(visibility);
    visibility.fill = {Fill::Kind::number, fill.number};
    // Equal scores give equal weights where nothing else is left in the row.
    set_empty_rows(a, EmptyWeights::uniform);
    return;
  }
  // Some rules get the fill, the others hide as they should: what is hidden by the former alone is
  // replaced.
  const auto hidden = hidden_by(only(visibility, rules));
  visibility = without(visibility, rules);
  a.edit("masked", [hidden, number = fill.number](const Held& held, const auto& right) {
    const Visibility<double>& rest = held.problem().visibility;
    if (!fits(right, rest) || !broadcasts(hidden, right)) return right;
    return filled<double>(
        right.sizes(), [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
          const bool put = broadcast(hidden, b, h, i, j) != 0 && !rest.hidden(b, h, i, j);
          return put ? number : right(b, h, i, j);
        });
  });
}

}  // namespace

/// masked = f where hidden, or scores + f, with an f that leaves hidden keys a weight: 1e-9 in
/// place of -1e9, or a number above real scores.
std::vector<Variant> mask_fill_small(const Case& the_case) {
  std::vector<Variant> variants;
  for (const RuleSet& rules : together(rules_of(the_case.problem.visibility))) {
    for (const FittedFill& fill : fitted_fills(the_case, rules)) {
      const std::string number = short_number(fill.number);
      variants.push_back(
          {[rules, fill](Alteration& a) { fill_with(a, rules, fill); },
           fill.is_added ? "your code adds " + number + " to the scores that " + words(rules) +
                               " hides, too little to hide them"
                         : "your code puts " + number + " where " + words(rules) +
                               " hides a score, which is not far enough below the others",
           "fill with -inf, or the lowest number of the type, in place of " + number});
    }
  }
  return variants;
}

}  // namespace qkv::faults
