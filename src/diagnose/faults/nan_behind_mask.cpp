// nan-behind-mask: NaN at keys that are hidden reaches the output.
#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnose/faults.hpp"
#include "follow.hpp"
#include "half.hpp"
#include "qkv/attention/mask.hpp"
#include "qkv/base/text.hpp"
#include "softmax_over.hpp"
#include "yours.hpp"

namespace qkv::faults {

namespace {

constexpr const char* clear_values =
    "set v to 0 at hidden keys before attn·v: v = where(hidden, 0, v)";

template <std::size_t Rank>
bool has_non_finite(const Tensor<double, Rank>& x) {
  return std::ranges::any_of(x.elements(), [](double value) { return !std::isfinite(value); });
}

/// Where NaN in v meets the queries.
struct Leak {
  std::size_t queries = 0;          ///< for which every NaN in v is at a hidden key
  std::vector<std::size_t> keys{};  ///< those keys, over all batch rows and heads
};

/// Rows b, g of v that hold a NaN or an infinity.
std::vector<std::size_t> spoilt_keys(const Tensor<double, 4>& v, std::size_t b, std::size_t g) {
  std::vector<std::size_t> keys;
  for (std::size_t s = 0; s < v.size(2); ++s) {
    if (std::ranges::any_of(v.row(b, g, s), [](double value) { return !std::isfinite(value); }))
      keys.push_back(s);
  }
  return keys;
}

Leak find_leak(const Problem<double>& problem, const Tensor<double, 4>& v) {
  const Sizes& sizes = problem.sizes;
  Leak leak;
  for (std::size_t b = 0; b < sizes.B; ++b) {
    for (std::size_t h = 0; h < sizes.H; ++h) {
      const std::vector<std::size_t> keys = spoilt_keys(v, b, h / (sizes.H / sizes.G));
      if (keys.empty()) continue;
      for (std::size_t l = 0; l < sizes.L; ++l) {
        const bool all_hidden = std::ranges::all_of(
            keys, [&](std::size_t s) { return problem.visibility.hidden(b, h, l, s); });
        if (!all_hidden) continue;
        ++leak.queries;
        for (const std::size_t s : keys) {
          if (std::ranges::find(leak.keys, s) == leak.keys.end()) leak.keys.push_back(s);
        }
      }
    }
  }
  std::ranges::sort(leak.keys);
  return leak;
}

/// "key 5", "keys 3, 4 and 5", "keys 3, 4 and 18 others"
std::string keys_text(const std::vector<std::size_t>& keys) {
  constexpr std::size_t most = 3;
  std::vector<std::string> words;
  for (const std::size_t key : keys) words.push_back(std::to_string(key));
  if (words.size() > most) {
    words.resize(most);
    words.back() = std::to_string(keys.size() - (most - 1)) + " others";
  }
  return (keys.size() == 1 ? "key " : "keys ") + listed(words);
}

/// attn*v without the products of a hidden key and a value that is no number.
Tensor<double, 4> sum_without_hidden(const Held& held, const Tensor<double, 4>& right) {
  const Problem<double>& problem = held.problem();
  const Tensor<double, 4>&attn = held.at("attn"), v = held.values();
  auto heads = right.clone();
  for (std::size_t b = 0; b < attn.size(0); ++b) {
    for (std::size_t h = 0; h < attn.size(1); ++h) {
      const std::size_t g = h / (attn.size(1) / v.size(1));
      if (spoilt_keys(v, b, g).empty()) continue;
      for (std::size_t l = 0; l < attn.size(2); ++l) {
        for (std::size_t e = 0; e < v.size(3); ++e) {
          double sum = 0;
          for (std::size_t s = 0; s < v.size(2); ++s) {
            const double value = v(b, g, s, e);
            if (!std::isfinite(value) && problem.visibility.hidden(b, h, l, s)) continue;
            sum += attn(b, h, l, s) * value;
          }
          heads(b, h, l, e) = sum;
        }
      }
    }
  }
  return heads;
}

/// The fill added to hidden scores in place of replacing them: NaN + fill is NaN.
Tensor<double, 4> fill_added(const Held& held, const Tensor<double, 4>& right) {
  const Problem<double>& problem = held.problem();
  const Tensor<double, 4>& before = held.unmasked();
  const auto fill = fill_value<double>(problem.visibility.fill);
  auto masked = right.clone();
  for (std::size_t b = 0; b < masked.size(0); ++b) {
    for (std::size_t h = 0; h < masked.size(1); ++h) {
      for (std::size_t l = 0; l < masked.size(2); ++l) {
        for (std::size_t s = 0; s < masked.size(3); ++s) {
          const double score = before(b, h, l, s);
          if (!std::isfinite(score) && problem.visibility.hidden(b, h, l, s))
            masked(b, h, l, s) = score + fill;
        }
      }
    }
  }
  return masked;
}

/// Rows with a NaN among their logits are NaN, those without a visible key included.
Tensor<double, 4> nan_rows(const Held& held, const Tensor<double, 4>& right) {
  auto attn = right.clone();
  for (std::size_t b = 0; b < attn.size(0); ++b) {
    for (std::size_t h = 0; h < attn.size(1); ++h) {
      for (std::size_t l = 0; l < attn.size(2); ++l) {
        if (std::ranges::any_of(held.logits().row(b, h, l), [](double v) { return std::isnan(v); }))
          std::ranges::fill(attn.row(b, h, l), std::numeric_limits<double>::quiet_NaN());
      }
    }
  }
  return attn;
}

/// NaN in v at the keys that no query sees: all of them, or those at which the user's v has it.
Tensor<double, 4> unseen_as_nan(const Held& held, const Tensor<double, 4>& right,
                                const Tensor<double, 4>* own) {
  const Problem<double>& problem = held.problem();
  const std::size_t heads_per_group = problem.sizes.H / problem.sizes.G;
  const auto seen = [&](std::size_t b, std::size_t g, std::size_t s) {
    for (std::size_t h = g * heads_per_group; h < (g + 1) * heads_per_group; ++h) {
      for (std::size_t l = 0; l < problem.sizes.L; ++l) {
        if (!problem.visibility.hidden(b, h, l, problem.sizes.P + s)) return true;
      }
    }
    return false;
  };
  auto v = right.clone();
  for (std::size_t b = 0; b < v.size(0); ++b) {
    for (std::size_t g = 0; g < v.size(1); ++g) {
      for (std::size_t s = 0; s < v.size(2); ++s) {
        if (seen(b, g, s)) continue;
        for (std::size_t e = 0; e < v.size(3); ++e) {
          if (own == nullptr) {
            v(b, g, s, e) = std::numeric_limits<double>::quiet_NaN();
          } else if (!std::isfinite((*own)(b, g, s, e))) {
            v(b, g, s, e) = (*own)(b, g, s, e);
          }
        }
      }
    }
  }
  return v;
}

Variant never_written(const Case& the_case) {
  const Tensor<double, 4>* given_v = given(the_case, "v");
  return {[own = given_v == nullptr ? Tensor<double, 4>() : *given_v](Alteration& alteration) {
            alteration.edit("v", [own](const Held& held, const Tensor<double, 4>& right) {
              const bool usable = !own.empty() && own.sizes() == right.sizes();
              return unseen_as_nan(held, right, usable ? &own : nullptr);
            });
          },
          yours(the_case, "v") + " v with NaN at keys that no query sees, and 0·NaN is NaN",
          clear_values};
}

}  // namespace

bool inputs_non_finite(const Problem<double>& problem) {
  return has_non_finite(problem.x) || has_non_finite(problem.context) ||
         has_non_finite(problem.k) || has_non_finite(problem.v) || has_non_finite(problem.past_k) ||
         has_non_finite(problem.past_v);
}

std::vector<Variant> nan_behind_mask(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (!problem.visibility.any()) return {};
  std::vector<Variant> variants;
  if (gave_non_finite(the_case)) variants.push_back(never_written(the_case));
  if (!inputs_non_finite(problem)) return variants;
  variants.push_back(
      {[](Alteration& alteration) {
         alteration.edit("masked", fill_added);
         alteration.edit("attn", nan_rows);
       },
       yours(the_case, "masked") + " scores with the mask added: the NaN of a hidden key stays NaN",
       "replace hidden scores in place of adding to them (where, masked_fill), and "
       "clear what lies behind the mask: k = where(hidden, 0, k)"});
  variants.push_back(
      {[](Alteration& alteration) { alteration.edit("heads", sum_without_hidden); },
       yours(the_case, "heads") +
           " attn·v without the NaN of hidden keys, where by definition 0·NaN is NaN",
       std::string("no code may rely on that: ") + clear_values});
  return variants;
}

std::optional<FoundFault> nan_behind_mask_finding(const Case& the_case) {
  if (!the_case.problem.visibility.any() || !inputs_non_finite(the_case.problem))
    return std::nullopt;
  std::string reached;
  for (const std::string id : {"heads", "concat", "out"}) {
    const Tensor<double, 4>* stage = given(the_case, id);
    if (stage != nullptr &&
        std::ranges::any_of(stage->elements(), [](double value) { return std::isnan(value); })) {
      reached = id;
      break;
    }
  }
  if (reached.empty()) return std::nullopt;
  const Followed followed = follow(the_case, "v");
  const Leak leak = find_leak(the_case.problem, followed.held.values());
  if (leak.queries == 0) return std::nullopt;
  const std::size_t all =
      the_case.problem.sizes.B * the_case.problem.sizes.H * the_case.problem.sizes.L;
  return FoundFault{.id = "nan-behind-mask",
                    .stage = reached,
                    .message = "v is not finite at " + keys_text(leak.keys) + ", hidden from " +
                               std::to_string(leak.queries) + " of " + std::to_string(all) +
                               " queries, and reaches their " + reached + " as 0·NaN",
                    .fix = clear_values};
}

}  // namespace qkv::faults
