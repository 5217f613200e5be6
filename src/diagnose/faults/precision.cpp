// precision(): stages rounded to a 16-bit type, though kept in a wider one.
#include "precision.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "follow.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

struct Places {
  std::string words;
  bool inputs = false;
  std::vector<std::string> stages = {};
};

std::vector<Places> all_places() {
  const std::vector<std::string> projected = {"x",      "context", "q",      "k",     "v",
                                              "q_norm", "k_norm",  "q_rope", "k_rope"},
                                 logits = {"scores", "scaled", "capped", "masked"},
                                 later = {"attn", "heads", "concat", "out"};
  std::vector<std::string> fused = projected;
  fused.insert(fused.end(), later.begin(), later.end());
  std::vector<std::string> all = fused;
  all.insert(all.end(), logits.begin(), logits.end());
  return {{"every stage", true, all},
          {"every stage but the logits", true, fused},
          {"the inputs", true, {}},
          {"attn and what follows it", false, later},
          {"attn", false, {"attn"}}};
}

void round_linear(Linear<double>& linear, const Half& half) {
  linear.weight = rounded(linear.weight, half);
  linear.bias = rounded(linear.bias, half);
}

void round_inputs(Problem<double>& problem, const Half& half) {
  problem.x = rounded(problem.x, half);
  problem.context = rounded(problem.context, half);
  for (Linear<double>* linear : {&problem.query, &problem.key, &problem.value, &problem.output})
    round_linear(*linear, half);
  for (Tensor<double, 4>* tensor : {&problem.q, &problem.k, &problem.v, &problem.past_k,
                                    &problem.past_v, &problem.visibility.added})
    *tensor = rounded(*tensor, half);
}

void round_at(Alteration& alteration, const Places& places, const Half& half) {
  alteration.eps = std::max(alteration.eps, half.eps());
  if (places.inputs) round_inputs(alteration.problem, half);
  for (const std::string& stage : places.stages) {
    alteration.edit(stage, [half](const Held&, const Tensor<double, 4>& right) {
      return rounded(right, half);
    });
  }
}

bool holds_all(const Half& half, const Tensor<double, 4>& x) {
  return std::ranges::all_of(x.elements(), [&](double value) { return half.holds(value); });
}

/// The user's numbers are all of this type, and neither of a coarser one nor such as would be of it
/// anyway.
bool is_rounded(const Half& half, const Tensor<double, 4>& own, const Tensor<double, 4>& made) {
  if (own.sizes() != made.sizes() || !holds_all(half, own)) return false;
  if (half.dtype == DType::float16 && holds_all(bfloat16, own)) return false;
  std::size_t finer = 0, numbers = 0;
  for (std::size_t n = 0; n < made.size(); ++n) {
    const double value = made.data()[n];
    if (!std::isfinite(value) || value == 0) continue;
    ++numbers;
    // 2^-20 of the value is more than float32 arithmetic does to it.
    if (std::abs(half.rounded(value) - value) > 0x1p-20 * std::abs(value)) ++finer;
  }
  return finer >= 3 && 2 * finer >= numbers;
}

/// Sum over the user's stages of their squared difference from those made, each in units of the
/// stage's own size.
double distance(const Case& the_case, const Followed& followed) {
  double total = 0;
  for (const auto& [id, made] : followed.made) {
    const Tensor<double, 4>* own = given(the_case, id);
    if (own == nullptr || own->sizes() != made.sizes()) continue;
    double difference = 0, size = 0;
    for (std::size_t n = 0; n < made.size(); ++n) {
      const double a = own->data()[n], b = made.data()[n];
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      difference += (a - b) * (a - b);
      size += b * b;
    }
    if (size > 0) total += difference / size;
  }
  return total;
}

}  // namespace

std::vector<Variant> precision(const Case& the_case, const Half& half) {
  // Files of the type, or of a coarser one, are compared as such.
  if (the_case.eps >= half.eps()) return {};
  const Followed right = follow(the_case);
  const bool seen = std::ranges::any_of(right.made, [&](const auto& entry) {
    const Tensor<double, 4>* own = given(the_case, entry.first);
    return own != nullptr && is_rounded(half, *own, entry.second);
  });
  const double before = distance(the_case, right);
  // Errors of eps relative to their stage, enlarged by logits of some tens: more is no rounding.
  const double greatest = std::pow(16 * half.eps(), 2) * static_cast<double>(the_case.got.size());
  if (!seen && !(before <= greatest)) return {};

  std::vector<Variant> variants;
  for (const Places& places : all_places()) {
    if (!seen) {
      Alteration alteration{.problem = the_case.problem};
      round_at(alteration, places, half);
      if (!(distance(the_case, follow(the_case, alteration)) <= before / 4)) continue;
    }
    variants.push_back(
        {[places, half](Alteration& alteration) { round_at(alteration, places, half); },
         "your numbers are those of a computation that rounds " + places.words + " to " +
             half.text() + ", by up to " + short_number(half.eps() / 2) + " of each",
         "keep float32 from step to step; if " + half.text() +
             " is meant, keep the files in it too, so that they are compared as such"});
  }
  return variants;
}

}  // namespace qkv::faults
