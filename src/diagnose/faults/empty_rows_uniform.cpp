// empty-rows-uniform: a query that sees no key gets equal weights.
#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/rules.hpp"

namespace qkv::faults {

namespace {

/// How many of the rules hide each key.
std::vector<int> hiding(const std::vector<Visibility<double>>& rules, std::size_t b, std::size_t h,
                        std::size_t i, std::size_t S) {
  std::vector<int> count(S, 0);
  for (const Visibility<double>& rule : rules) {
    for (std::size_t j = 0; j < S; ++j) count[j] += rule.hidden(b, h, i, j);
  }
  return count;
}

/// Lowest + lowest is -Inf: of a row that sees no key, the keys that one rule alone hides share the
/// weight.
Tensor<double, 4> shared_by_singly_hidden(const Held& held, const Tensor<double, 4>& right) {
  const Visibility<double>& visibility = held.problem().visibility;
  if (!fits(right, visibility)) return right;
  const RuleSet all = rules_of(visibility);
  std::vector<Visibility<double>> rules;
  for (const RuleSet& one : together(all)) {
    if (one.count() == 1) rules.push_back(only(visibility, one));
  }
  auto attn = right.clone();
  for (std::size_t b = 0; b < attn.size(0); ++b) {
    for (std::size_t h = 0; h < attn.size(1); ++h) {
      for (std::size_t i = 0; i < attn.size(2); ++i) {
        if (!visibility.empty_row(b, h, i)) continue;
        const std::vector<int> count = hiding(rules, b, h, i, attn.size(3));
        const auto singly = std::ranges::count(count, 1);
        const auto row = attn.row(b, h, i);
        for (std::size_t j = 0; j < row.size(); ++j) {
          const bool takes_part = singly == 0 || count[j] == 1;
          row[j] = takes_part
                       ? 1.0 / static_cast<double>(singly == 0 ? row.size()
                                                               : static_cast<std::size_t>(singly))
                       : 0;
        }
      }
    }
  }
  return attn;
}

}  // namespace

/// A finite fill in place of every score of a row: equal scores, equal weights.
std::vector<Variant> empty_rows_uniform(const Case& the_case) {
  const Visibility<double>& visibility = the_case.problem.visibility;
  std::vector<Variant> variants;
  if (!has_empty_row(visibility)) return variants;
  if (visibility.empty_rows != EmptyRows::uniform) {
    variants.push_back(
        {[](Alteration& a) { set_empty_rows(a, EmptyWeights::uniform); },
         "your code gives queries that see no key 1/S each: the mark of a finite fill that "
         "swallowed the scores",
         "set such rows to 0 after the softmax; as a convention this is --empty-rows uniform (jax, "
         "keras, hf-eager)"});
  }
  if (rules_of(visibility).count() > 1) {
    variants.push_back(
        {[](Alteration& a) { a.edit("attn", shared_by_singly_hidden); },
         "your code spreads the weights of queries that see no key over the keys that one rule "
         "alone hides: two lowest numbers added are -inf",
         "join masks with a minimum or a logical or, not by adding lowest numbers; then set such "
         "rows to 0"});
  }
  return variants;
}

}  // namespace qkv::faults
