// Rules of a visibility, one by one.
#include "diagnose/faults/rules.hpp"

#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool all_equal(const std::vector<long long>& numbers) {
  return std::ranges::all_of(numbers, [&](long long n) { return n == numbers.front(); });
}

/// The smallest sizes in which what these rules hide can be written down.
std::array<std::size_t, 4> sizes_of(const Visibility<double>& visibility) {
  std::array<std::size_t, 4> sizes = {1, 1, 1, visibility.S};
  const auto grow = [&](const auto& mask) {
    if (mask.empty()) return;
    for (std::size_t axis = 0; axis < 3; ++axis)
      sizes[axis] = std::max(sizes[axis], mask.size(axis));
  };
  grow(visibility.hidden_by_mask);
  grow(visibility.added);
  if (!visibility.lengths.empty() || !visibility.padded.empty() ||
      (visibility.causal && !all_equal(visibility.offset)) ||
      (visibility.window && !all_equal(visibility.window_offset))) {
    sizes[0] = visibility.B;
  }
  if (visibility.causal || visibility.window) sizes[2] = visibility.L;
  return sizes;
}

void add_if_new(std::vector<RuleSet>& sets, const RuleSet& set) {
  if (set.count() > 0 && std::ranges::find(sets, set) == sets.end()) sets.push_back(set);
}

}  // namespace

RuleSet rules_of(const Visibility<double>& visibility) {
  return {.mask = !visibility.hidden_by_mask.empty() || !visibility.added.empty(),
          .padding = !visibility.padded.empty(),
          .lengths = !visibility.lengths.empty(),
          .causal = visibility.causal,
          .window = visibility.window.has_value()};
}

RuleSet masks_of(const Visibility<double>& visibility) {
  const RuleSet all = rules_of(visibility);
  return {.mask = all.mask, .padding = all.padding, .lengths = all.lengths};
}

std::string words(const RuleSet& rules) {
  std::vector<std::string> names;
  if (rules.mask) names.emplace_back("the mask");
  if (rules.padding) names.emplace_back("the padding");
  if (rules.lengths) names.emplace_back("the lengths");
  if (rules.causal) names.emplace_back("the causal rule");
  if (rules.window) names.emplace_back("the window");
  return listed(names);
}

Visibility<double> only(const Visibility<double>& visibility, const RuleSet& rules) {
  Visibility<double> some = visibility;
  if (!rules.mask) {
    some.hidden_by_mask = {};
    some.added = {};
  }
  if (!rules.padding) some.padded = {};
  if (!rules.lengths) some.lengths.clear();
  if (!rules.causal) some.causal = false;
  if (!rules.window) some.window.reset();
  return some;
}

Visibility<double> without(const Visibility<double>& visibility, const RuleSet& rules) {
  Visibility<double> rest = only(visibility, {.mask = !rules.mask,
                                              .padding = !rules.padding,
                                              .lengths = !rules.lengths,
                                              .causal = !rules.causal,
                                              .window = !rules.window});
  if (!rest.any()) rest.hidden_by_mask = Tensor<std::uint8_t, 4>::make({1, 1, 1, 1});
  return rest;
}

std::vector<RuleSet> together(const RuleSet& all) {
  std::vector<RuleSet> sets;
  add_if_new(sets, all);
  add_if_new(sets, {.mask = all.mask, .padding = all.padding, .lengths = all.lengths});
  add_if_new(sets, {.causal = all.causal, .window = all.window});
  add_if_new(sets, {.mask = all.mask});
  add_if_new(sets, {.padding = all.padding});
  add_if_new(sets, {.lengths = all.lengths});
  add_if_new(sets, {.causal = all.causal});
  add_if_new(sets, {.window = all.window});
  return sets;
}

Tensor<std::uint8_t, 4> hidden_by(const Visibility<double>& visibility) {
  return filled<std::uint8_t>(
      sizes_of(visibility), [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
        return static_cast<std::uint8_t>(visibility.hidden(b, h, i, j) ? 1 : 0);
      });
}

void also_hide(Visibility<double>& visibility, const Tensor<std::uint8_t, 4>& hidden) {
  if (visibility.hidden_by_mask.empty()) {
    visibility.hidden_by_mask = hidden;
    return;
  }
  const Tensor<std::uint8_t, 4> before = visibility.hidden_by_mask;
  visibility.hidden_by_mask = filled<std::uint8_t>(
      joint_sizes(before, hidden),
      [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) -> std::uint8_t {
        return broadcast(before, b, h, i, j) != 0 || broadcast(hidden, b, h, i, j) != 0 ? 1 : 0;
      });
}

void hide_in_place_of(Visibility<double>& visibility, const RuleSet& rules,
                      const Tensor<std::uint8_t, 4>& hidden) {
  visibility = without(visibility, rules);
  also_hide(visibility, hidden);
}

void add_in_place_of(Visibility<double>& visibility, const RuleSet& rules, double to_seen,
                     double to_hidden) {
  const Visibility<double> part = only(visibility, rules);
  const Tensor<std::uint8_t, 4> hidden = hidden_by(part);
  const Tensor<double, 4> before = visibility.added;
  visibility = without(visibility, rules);
  visibility.added =
      filled<double>(before.empty() ? hidden.sizes() : joint_sizes(before, hidden),
                     [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
                       const double bias = before.empty() ? 0 : broadcast(before, b, h, i, j);
                       const double more = broadcast(hidden, b, h, i, j) != 0 ? to_hidden : to_seen;
                       return bias == -infinity ? (rules.mask ? more : bias) : bias + more;
                     });
}

bool fits(const Tensor<double, 4>& stage, const Visibility<double>& visibility) {
  return stage.sizes() == std::array{visibility.B, visibility.H, visibility.L, visibility.S};
}

bool has_empty_row(const Visibility<double>& visibility) {
  if (!visibility.any() || visibility.S == 0) return false;
  for (std::size_t b = 0; b < visibility.B; ++b) {
    for (std::size_t h = 0; h < visibility.H; ++h) {
      for (std::size_t i = 0; i < visibility.L; ++i) {
        if (visibility.empty_row(b, h, i)) return true;
      }
    }
  }
  return false;
}

}  // namespace qkv::faults
