// Whether the next step of the computation can work on what mistakes have made of the stages.
#include "diagnose/next_step.hpp"

namespace qkv {

namespace {

using Four = Tensor<double, 4>;

bool rotation_fits(const Held& held, const Four& x, const Tensor<double, 2>& positions) {
  const Problem<double>& problem = held.problem();
  if (!problem.settings.rope_base) return true;
  return positions.size(1) == x.size(2) &&
         (positions.size(0) == 1 || positions.size(0) == x.size(0)) &&
         problem.settings.rope_dim.value_or(problem.sizes.D) <= x.size(3);
}

bool norm_fits(const Tensor<double, 1>& gain, const Four& x) {
  return gain.empty() || gain.size() == x.size(3);
}

bool cache_fits(const Four& past, const Four& now) {
  return past.empty() || (past.size(0) == now.size(0) && past.size(1) == now.size(1) &&
                          past.size(3) == now.size(3));
}

/// Each query head has its key/value head.
bool heads_fit(const Four& by_query, const Four& by_key) {
  return by_query.size(0) == by_key.size(0) && by_key.size(1) > 0 &&
         by_query.size(1) % by_key.size(1) == 0;
}

bool scores_fit(const Held& held) {
  const Four &q = held.query(), &k = held.new_keys(), &v = held.at("v");
  const Problem<double>& problem = held.problem();
  return cache_fits(problem.past_k, k) && cache_fits(problem.past_v, v) && heads_fit(q, k) &&
         q.size(3) == k.size(3);
}

template <class T>
bool broadcasts(const Tensor<T, 4>& mask, const Four& logits) {
  if (mask.empty()) return true;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (mask.size(axis) != 1 && mask.size(axis) < logits.size(axis)) return false;
  }
  return true;
}

bool rules_fit(const Visibility<double>& rules, const Four& logits) {
  const std::size_t B = logits.size(0), S = logits.size(3);
  return (!rules.causal || rules.offset.size() >= B) &&
         (!rules.window || rules.window_offset.size() >= B) &&
         (rules.lengths.empty() || rules.lengths.size() >= B) &&
         (rules.padded.empty() || (rules.padded.size(0) >= B && rules.padded.size(1) >= S)) &&
         (rules.slopes.empty() ||
          (rules.slopes.size() >= logits.size(1) && rules.slope_offset.size() >= B)) &&
         (!rules.any() || rules.S <= S) && broadcasts(rules.hidden_by_mask, logits) &&
         broadcasts(rules.added, logits);
}

bool projection_fits(const Four& x, const Linear<double>& linear) {
  return x.size(3) == linear.in();
}

}  // namespace

bool next_step_fits(const std::string& id, const Held& held) {
  const Problem<double>& problem = held.problem();
  const Sizes& sizes = problem.sizes;
  const Four& value = held.at(id);
  if (id == "x")
    return projection_fits(value, problem.query) &&
           (sizes.has_context ||
            (projection_fits(value, problem.key) && projection_fits(value, problem.value)));
  if (id == "context")
    return projection_fits(value, problem.key) && projection_fits(value, problem.value);
  if (id == "q")
    return norm_fits(problem.q_gain, value) && rotation_fits(held, value, problem.query_positions);
  if (id == "k")
    return norm_fits(problem.k_gain, value) && rotation_fits(held, value, problem.key_positions);
  const bool more = problem.settings.rope_base.has_value();
  if (id == "v") return more || problem.settings.qk_norm || scores_fit(held);
  if (id == "q_norm") return rotation_fits(held, value, problem.query_positions);
  if (id == "k_norm")
    return more ? rotation_fits(held, value, problem.key_positions) : scores_fit(held);
  if (id == "k_rope") return scores_fit(held);
  if (id == "scores" || id == "scaled" || id == "capped" || id == "masked")
    return rules_fit(problem.visibility, value) &&
           (problem.sinks.empty() || problem.sinks.size() >= value.size(1));
  if (id == "attn") {
    const Four v = held.values();
    return heads_fit(value, v) && value.size(3) == v.size(2);
  }
  if (id == "concat") return !sizes.has_wo || projection_fits(value, problem.output);
  return true;
}

}  // namespace qkv
