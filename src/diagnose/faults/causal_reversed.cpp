// causal-reversed: the past is hidden in place of the future.
#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/rules.hpp"

namespace qkv::faults {

namespace {

/// Hides the keys before the query's own, and with `own_too` that one as well.
void reverse(Visibility<double>& visibility, bool own_too) {
  const std::vector<long long> offset = visibility.offset;
  hide_in_place_of(
      visibility, {.causal = true},
      filled<std::uint8_t>(
          {visibility.B, 1, visibility.L, visibility.S},
          [&](std::size_t b, std::size_t, std::size_t i, std::size_t j) -> std::uint8_t {
            const long long own = static_cast<long long>(i) + offset[b];
            const auto key = static_cast<long long>(j);
            return key < own || (own_too && key == own) ? 1 : 0;
          }));
}

}  // namespace

/// The upper triangle is kept: transposed (the diagonal stays) or inverted (it goes, and the last
/// query sees nothing).
std::vector<Variant> causal_reversed(const Case& the_case) {
  std::vector<Variant> variants;
  if (!the_case.problem.visibility.causal) return variants;
  add_rule_mistake(
      the_case, [](Visibility<double>& v) { reverse(v, false); },
      "your code hides the past in place of the future: the triangle is the other one",
      "keep j <= i: tril, not triu", variants);
  add_rule_mistake(
      the_case, [](Visibility<double>& v) { reverse(v, true); },
      "your code keeps the future and hides the rest: the causal mask is inverted",
      "invert the causal mask before it is used: j > i is what must be hidden", variants);
  return variants;
}

}  // namespace qkv::faults
