// causal-align: the causal rule, or the window, is aligned to the other end.
#include <algorithm>

#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"

namespace qkv::faults {

namespace {

using Offsets = std::vector<long long>;

/// Where query 0 stands among the keys, per batch row.
struct Alignment {
  Offsets offset;
  std::string counts;  ///< "counts from the start: query 0 stands at the end of the cache"
  std::string fix;
};

/// Every place where query 0 may stand: the end of the cache, the end of all keys or of the real
/// keys of each batch row, or key 0 with the cache forgotten. None twice.
std::vector<Alignment> alignments(const Problem<double>& problem) {
  const Sizes& sizes = problem.sizes;
  const auto S = static_cast<long long>(sizes.S), L = static_cast<long long>(sizes.L),
             P = static_cast<long long>(sizes.P);
  std::vector<Alignment> all;
  const auto add = [&](Offsets offset, std::string counts, std::string fix) {
    const bool known =
        std::ranges::any_of(all, [&](const Alignment& other) { return other.offset == offset; });
    if (!known) all.push_back({std::move(offset), std::move(counts), std::move(fix)});
  };
  add(Offsets(sizes.B, P),
      "from the start: query 0 stands " +
          std::string(P > 0 ? "at the end of the cache" : "at key 0"),
      "this is the start-aligned rule (torch-sdpa, jax, keras): --causal-align start");
  add(Offsets(sizes.B, S - L), "from the end: the last query stands at the last key",
      "this is the end-aligned rule (flash, hf-eager): --causal-align end");
  if (!problem.visibility.lengths.empty()) {
    Offsets offset;
    for (const std::size_t length : problem.visibility.lengths)
      offset.push_back(static_cast<long long>(length) - L);
    add(offset, "from the end of each batch row's real keys",
        "this is the end-aligned rule with lengths (onnx, flash): --causal-align end");
  }
  add(Offsets(sizes.B, 0), "from key 0, as if there were no cache",
      "shift it by the length of the cache: query i stands at key i + " + std::to_string(P));
  return all;
}

/// Which of the two rules are moved.
struct Moved {
  bool causal, window;
};

std::vector<Moved> ways_to_move(const Visibility<double>& visibility) {
  if (visibility.causal && visibility.window) return {{true, true}, {true, false}, {false, true}};
  if (visibility.causal) return {{true, false}};
  if (visibility.window) return {{false, true}};
  return {};
}

std::string subject(const Moved& moved) {
  if (moved.causal && moved.window) return "your causal rule and window count ";
  return moved.causal ? "your causal rule counts " : "your window counts ";
}

}  // namespace

std::vector<Variant> causal_align(const Case& the_case) {
  const Visibility<double>& visibility = the_case.problem.visibility;
  std::vector<Variant> variants;
  for (const Alignment& other : alignments(the_case.problem)) {
    for (const Moved& moved : ways_to_move(visibility)) {
      const bool causal_stays = !moved.causal || visibility.offset == other.offset,
                 window_stays = !moved.window || visibility.window_offset == other.offset;
      // Moving both of which one stays is moving the other alone.
      if (moved.causal && moved.window ? causal_stays || window_stays
                                       : causal_stays && window_stays) {
        continue;
      }
      add_rule_mistake(
          the_case,
          [moved, offset = other.offset](Visibility<double>& v) {
            if (moved.causal) v.offset = offset;
            if (moved.window) v.window_offset = offset;
          },
          subject(moved) + other.counts, other.fix, variants);
    }
  }
  return variants;
}

}  // namespace qkv::faults
