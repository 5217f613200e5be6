// Empty rows: the weights of queries that see no key.
#include "diagnose/faults/empty_rows.hpp"

#include <algorithm>
#include <cmath>

#include "diagnose/faults/rules.hpp"
#include "diagnose/likeness.hpp"
#include "qkv/attention/softmax.hpp"

namespace qkv::faults {

namespace {

/// Rows that see no key get the softmax of what they would have been: of masked where its fill is
/// finite, else of the stage before it.
Tensor<double, 4> unmasked_where_empty(const Held& held, const Tensor<double, 4>& right) {
  const Visibility<double>& visibility = held.problem().visibility;
  if (!fits(right, visibility) || !fits(held.unmasked(), visibility)) return right;
  auto attn = right.clone();
  for (std::size_t b = 0; b < attn.size(0); ++b) {
    for (std::size_t h = 0; h < attn.size(1); ++h) {
      for (std::size_t i = 0; i < attn.size(2); ++i) {
        if (!visibility.empty_row(b, h, i)) continue;
        auto x = Tensor<double, 4>::make({1, 1, 1, attn.size(3)});
        const auto to = x.row(std::size_t{0}, std::size_t{0}, std::size_t{0});
        std::ranges::copy(held.logits().row(b, h, i), to.begin());
        if (!std::ranges::all_of(to, [](double v) { return std::isfinite(v); }))
          std::ranges::copy(held.unmasked().row(b, h, i), to.begin());
        const Tensor<double, 4> weights = softmax(x, EmptyRows::zero, held.problem().sinks, h);
        std::ranges::copy(weights.elements(), attn.row(b, h, i).begin());
      }
    }
  }
  return attn;
}

const GotStage* got(const Case& the_case, const char* id) {
  const auto found = the_case.got.find(id);
  return found == the_case.got.end() || found->second.value.empty() ? nullptr : &found->second;
}

bool all_equal(std::span<const double> row) {
  return std::ranges::all_of(row, [&](double v) { return v == row.front(); });
}

/// The ways to go on that nothing in the user's tensors rules out, likeliest first. Only attn shows
/// a single row; the stages after it mix rows and channels.
std::vector<EmptyWeights> possible(const Case& the_case, const Visibility<double>& visibility) {
  const auto asked = visibility.empty_rows == EmptyRows::nan       ? EmptyWeights::nan
                     : visibility.empty_rows == EmptyRows::uniform ? EmptyWeights::uniform
                                                                   : EmptyWeights::zero;
  std::vector<EmptyWeights> ways;
  const auto add = [&](EmptyWeights way) {
    if (std::ranges::find(ways, way) == ways.end()) ways.push_back(way);
  };
  const GotStage* attn = got(the_case, "attn");
  if (attn == nullptr ||
      attn->value.sizes() != std::array{visibility.B, visibility.H, visibility.L, visibility.S}) {
    if (shows_nan(the_case)) add(EmptyWeights::nan);
    add(asked);
    if (got(the_case, "heads") || got(the_case, "concat") || got(the_case, "out")) {
      add(EmptyWeights::uniform);
      add(EmptyWeights::unmasked);
    }
    return ways;
  }
  for (std::size_t b = 0; b < visibility.B; ++b) {
    for (std::size_t h = 0; h < visibility.H; ++h) {
      for (std::size_t i = 0; i < visibility.L; ++i) {
        if (!visibility.empty_row(b, h, i)) continue;
        const auto row = attn->value.row(b, h, i);
        if (std::isnan(row.front())) return {EmptyWeights::nan};
        if (!all_equal(row)) return {EmptyWeights::unmasked};
        return {row.front() == 0 ? EmptyWeights::zero : EmptyWeights::uniform};
      }
    }
  }
  return {asked};
}

}  // namespace

void set_empty_rows(Alteration& alteration, EmptyWeights weights) {
  if (weights == EmptyWeights::unmasked) {
    alteration.edit("attn", unmasked_where_empty);
    return;
  }
  const EmptyRows policy = weights == EmptyWeights::nan       ? EmptyRows::nan
                           : weights == EmptyWeights::uniform ? EmptyRows::uniform
                                                              : EmptyRows::zero;
  alteration.problem.settings.empty_rows = policy;
  alteration.problem.visibility.empty_rows = policy;
}

void add_rule_mistake(const Case& the_case, std::function<void(Visibility<double>&)> change,
                      const std::string& message, const std::string& fix,
                      std::vector<Variant>& variants) {
  Visibility<double> changed = the_case.problem.visibility;
  change(changed);
  // A mistake that hides nothing else is no mistake about the queries that see no key.
  if (!has_empty_row(changed) || same_rules(changed, the_case.problem.visibility)) {
    variants.push_back({[change](Alteration& a) { change(a.problem.visibility); }, message, fix});
    return;
  }
  const bool new_ones = !has_empty_row(the_case.problem.visibility);
  for (const EmptyWeights way : possible(the_case, changed)) {
    variants.push_back({[change, way](Alteration& a) {
                          change(a.problem.visibility);
                          set_empty_rows(a, way);
                        },
                        new_ones ? message + ", which leaves queries without a key" : message,
                        fix});
  }
}

bool shows_nan(const Case& the_case) {
  for (const char* id : {"attn", "heads", "concat", "out"}) {
    const GotStage* stage = got(the_case, id);
    if (stage != nullptr &&
        std::ranges::any_of(stage->value.elements(), [](double v) { return std::isnan(v); })) {
      return true;
    }
  }
  return false;
}

}  // namespace qkv::faults
