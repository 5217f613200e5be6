// mask-axis: an axis of the mask landed on batch, head or query.
#include <array>

#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/mask_tiles.hpp"

namespace qkv::faults {

namespace {

constexpr const char* axis_names[] = {"batch", "head", "query"};
constexpr const char* axis_symbols[] = {"B", "H", "L"};

using Three = std::array<std::size_t, 3>;

/// The mask's axis `from` is read along `to`; where both are full, each along the other.
Tiling landing(const Three& own, std::size_t from, std::size_t to) {
  Tiling tiling{.source =
                    [from, to, swap = own[to] > 1](std::size_t b, std::size_t h, std::size_t i) {
                      const Three at = {b, h, i};
                      Three source = at;
                      source[from] = at[to];
                      source[to] = swap ? at[from] : 0;
                      return source;
                    },
                .sizes = own};
  tiling.sizes[to] = own[from];
  tiling.sizes[from] = own[to];
  return tiling;
}

std::string mend(const RuleSet& rules) {
  const bool keys_only = !rules.mask;
  return "give " + words(rules) + " all four axes before it meets the scores (B,H,L,S): " +
         (keys_only ? "(B,1,1,S)" : "(B,1,L,S) per batch row, (1,H,L,S) per head");
}

/// A batch axis that meets the key/value heads of (B,G,H/G,L,S).
Tiling on_groups(const Three& own, std::size_t H, std::size_t G) {
  return {.source =
              [group = H / G](std::size_t, std::size_t h, std::size_t i) {
                return Three{h / group, 0, i};
              },
          .sizes = {1, H, own[2]}};
}

/// The keys of the mask are read as queries: a column in place of a row.
void keys_to_queries(Visibility<double>& visibility) {
  const Tensor<std::uint8_t, 4> hidden = hidden_by(only(visibility, {.mask = true}));
  const Tensor<double, 4> added = visibility.added;
  const auto key = [](const auto& mask) {
    return [&mask](std::size_t b, std::size_t h, std::size_t i, std::size_t) {
      return broadcast(mask, b, h, 0, i);
    };
  };
  hide_in_place_of(
      visibility, {.mask = true},
      filled<std::uint8_t>({hidden.size(0), hidden.size(1), visibility.L, 1}, key(hidden)));
  if (added.empty()) return;
  visibility.added = filled<double>({added.size(0), added.size(1), visibility.L, 1}, key(added));
}

}  // namespace

/// Broadcasting aligns shapes to the right and lets 1 stretch, so an axis lands on another without
/// an error only where both have one length: batch on heads where B = H, for example.
std::vector<Variant> mask_axis(const Case& the_case) {
  const Visibility<double>& visibility = the_case.problem.visibility;
  const Sizes& sizes = the_case.problem.sizes;
  const RuleSet all = rules_of(visibility);
  const Three full = {sizes.B, sizes.H, sizes.L};
  std::vector<Variant> variants;
  for (const RuleSet& rules :
       together({.mask = all.mask, .padding = all.padding, .lengths = all.lengths})) {
    const Three own = own_sizes(visibility, rules);
    for (std::size_t from = 0; from < 3; ++from) {
      for (std::size_t to = 0; to < 3; ++to) {
        const bool fits = from != to && own[from] > 1 && own[from] == full[to];
        const bool twice = own[to] > 1 && to < from;  // an exchange, seen from its other side
        if (!fits || twice) continue;
        add_rule_mistake(
            the_case,
            [rules, tiling = landing(own, from, to)](Visibility<double>& v) {
              tile(v, rules, tiling);
            },
            std::string("the ") + axis_names[from] + " axis of " + words(rules) +
                " landed on the " + axis_names[to] + " axis (" + axis_symbols[from] + " = " +
                axis_symbols[to] + " = " + std::to_string(own[from]) + ": no shape error)",
            mend(rules), variants);
      }
    }
    if (own[0] > 1 && own[1] == 1 && own[0] == sizes.G && sizes.G < sizes.H) {
      add_rule_mistake(
          the_case,
          [rules, tiling = on_groups(own, sizes.H, sizes.G)](Visibility<double>& v) {
            tile(v, rules, tiling);
          },
          "the batch axis of " + words(rules) + " landed on the key/value heads (B = G = " +
              std::to_string(sizes.G) + ": no shape error)",
          "give it an axis more before it meets (B,G,H/G,L,S): (B,1,1,L,S)", variants);
    }
    if (rules == RuleSet{.mask = true} && own[2] == 1 && sizes.L == sizes.S && sizes.S > 1) {
      add_rule_mistake(the_case, keys_to_queries,
                       "the key axis of the mask landed on the queries: it hides whole rows",
                       "put the keys on the last axis: (B,1,1,S), not (B,1,S,1)", variants);
    }
  }
  return variants;
}

}  // namespace qkv::faults
