// overflow-f16: numbers beyond the largest float16 become infinite.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "diagnose/faults.hpp"
#include "follow.hpp"
#include "half.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

double greatest_size(const Tensor<double, 4>& x) {
  double greatest = 0;
  for (const double value : x.elements()) {
    if (std::isfinite(value)) greatest = std::max(greatest, std::abs(value));
  }
  return greatest;
}

struct Overflow {
  std::string stage;
  double reached = 0;
};

/// The first stage that the right numbers, from the user's own, take beyond float16.
std::optional<Overflow> first_overflow(const Case& the_case, const Followed& followed) {
  for (const StageShape& stage : the_case.stages) {
    const auto made = followed.made.find(stage.id);
    if (stage.id == "masked" || made == followed.made.end()) continue;
    const double reached = greatest_size(made->second);
    if (!std::isfinite(float16.rounded(reached))) return Overflow{stage.id, reached};
  }
  return std::nullopt;
}

Tensor<double, 4> overflown(const Held&, const Tensor<double, 4>& right) {
  return elementwise(right, [](double value) {
    const double half = float16.rounded(value);
    return std::isinf(half) ? half : value;
  });
}

/// Rows of nothing but -Inf that no mask emptied: (-Inf) - (-Inf) in a softmax without a guard for
/// empty rows is NaN.
Tensor<double, 4> nan_where_all_overflown(const Held& held, const Tensor<double, 4>& right) {
  auto attn = right.clone();
  for (std::size_t b = 0; b < attn.size(0); ++b) {
    for (std::size_t h = 0; h < attn.size(1); ++h) {
      for (std::size_t l = 0; l < attn.size(2); ++l) {
        const auto x = held.logits().row(b, h, l);
        if (std::ranges::any_of(x, [](double v) { return v != -HUGE_VAL; })) continue;
        if (held.problem().visibility.empty_row(b, h, l)) continue;
        std::ranges::fill(attn.row(b, h, l), std::numeric_limits<double>::quiet_NaN());
      }
    }
  }
  return attn;
}

std::string how_to_mend(const Followed& followed, const Overflow& overflow,
                        const Problem<double>& problem) {
  const std::string wider = "compute " + overflow.stage + " in float32 or bfloat16";
  if (overflow.stage != "scores") return wider;
  const double scaled = greatest_size(followed.made.at("scores")) * std::abs(problem.scale);
  if (std::isfinite(float16.rounded(scaled))) {
    return "multiply q by " + short_number(problem.scale) +
           " before the product, so that it reaches " + short_number(scaled) + " only; or " + wider;
  }
  return wider + ": even scaled they reach " + short_number(scaled) +
         ", which no order of the steps keeps within float16";
}

}  // namespace

std::vector<Variant> overflow_f16(const Case& the_case) {
  if (!gave_non_finite(the_case)) return {};
  const Followed followed = follow(the_case);
  const std::optional<Overflow> overflow = first_overflow(the_case, followed);
  if (!overflow) return {};

  const std::string message = (overflow->stage == "scores" ? "q·kᵀ" : overflow->stage) +
                              " reaches " + short_number(overflow->reached) +
                              ", beyond float16's 65504: it overflows to infinity, and the softmax "
                              "of an infinity is NaN";
  const std::string fix = how_to_mend(followed, *overflow, the_case.problem);
  const auto overflowing = [](std::vector<std::string> stages, bool guarded) {
    return [stages = std::move(stages), guarded](Alteration& alteration) {
      alteration.eps = std::max(alteration.eps, float16.eps());
      for (const std::string& stage : stages) alteration.edit(stage, overflown);
      if (!guarded) alteration.edit("attn", nan_where_all_overflown);
    };
  };
  const std::vector<std::string> every = {"q",      "k",      "v",      "q_norm",
                                          "k_norm", "q_rope", "k_rope", "scores",
                                          "scaled", "heads",  "concat", "out"};
  return {{overflowing({overflow->stage}, true), message, fix},
          {overflowing({overflow->stage}, false), message, fix},
          {overflowing(every, true), message, fix},
          {overflowing(every, false), message, fix}};
}

}  // namespace qkv::faults
