// attend(): softmax(q*k^T / sqrt(D) + mask) * v, one call a step.
#include "qkv/attention/pipeline.hpp"

#include <utility>

#include "qkv/attention/cache.hpp"
#include "qkv/attention/concat.hpp"
#include "qkv/attention/dropout.hpp"
#include "qkv/attention/mask.hpp"
#include "qkv/attention/project.hpp"
#include "qkv/attention/qk_norm.hpp"
#include "qkv/attention/rope.hpp"
#include "qkv/attention/scale.hpp"
#include "qkv/attention/scores.hpp"
#include "qkv/attention/softcap.hpp"
#include "qkv/attention/softmax.hpp"
#include "qkv/attention/split_heads.hpp"
#include "qkv/attention/weighted_sum.hpp"

namespace qkv {

namespace {

/// Rounds each stage as the arithmetic asks, offers it to the hook and goes on with what the hook
/// left.
template <class T>
class Show {
 public:
  Show(Arithmetic arithmetic, const OnStage<T>& on_stage)
      : on_stage_(rounding_stages(arithmetic, on_stage)) {}

  Tensor<T, 4> operator()(std::string_view stage, Tensor<T, 4> value) const {
    if (on_stage_) on_stage_(stage, value);
    return value;
  }
  /// A stage without a head axis is shown as (B,1,L,.).
  Tensor<T, 3> operator()(std::string_view stage, const Tensor<T, 3>& value) const {
    const auto four = (*this)(
        stage, value.template reshaped<4>({value.size(0), 1, value.size(1), value.size(2)}));
    return four.template reshaped<3>({four.size(0), four.size(2), four.size(3)});
  }

 private:
  OnStage<T> on_stage_;
};

}  // namespace

template <class T>
OnStage<T> rounding_stages(Arithmetic arithmetic, const OnStage<T>& on_stage) {
  if (arithmetic == Arithmetic::native) return on_stage;
  return [arithmetic, on_stage](std::string_view stage, Tensor<T, 4>& value) {
    round_elements(arithmetic, value.elements());
    if (on_stage) on_stage(stage, value);
  };
}

template <class T>
QueryKeyValue<T> prepare(const Problem<T>& problem, const OnStage<T>& on_stage) {
  const Sizes& sizes = problem.sizes;
  const Settings& settings = problem.settings;
  const Arithmetic arithmetic = settings.arithmetic;
  const Show<T> show(arithmetic, on_stage);

  // q (B,H,L,D), k (B,G,S-P,D), v (B,G,S-P,Dv)
  Tensor<T, 4> q = problem.q, k = problem.k, v = problem.v;
  if (sizes.projects) {
    const Tensor<T, 3> x = show("x", problem.x);
    const Tensor<T, 3> context = sizes.has_context ? show("context", problem.context) : x;
    q = split_heads(project(x, problem.query, arithmetic), sizes.H);
    k = split_heads(project(context, problem.key, arithmetic), sizes.G);
    v = split_heads(project(context, problem.value, arithmetic), sizes.G);
  }
  q = show("q", q);
  k = show("k", k);
  v = show("v", v);

  if (settings.qk_norm) {
    const double eps = settings.eps_of_norm();
    q = show("q_norm", qk_norm(q, *settings.qk_norm, eps, problem.q_gain));
    k = show("k_norm", qk_norm(k, *settings.qk_norm, eps, problem.k_gain));
  }
  if (settings.rope_base) {
    const std::size_t rope_dim = settings.rope_dim.value_or(sizes.D);
    q = show("q_rope",
             rope(q, problem.query_positions, *settings.rope_base, settings.rope_style, rope_dim));
    k = show("k_rope",
             rope(k, problem.key_positions, *settings.rope_base, settings.rope_style, rope_dim));
  }

  // From here on, k and v hold all S keys, those of the cache first.
  return {q, append(problem.past_k, k), append(problem.past_v, v)};
}

template <class T>
Tensor<T, 4> finish(const Problem<T>& problem, Tensor<T, 4> heads, const OnStage<T>& on_stage) {
  const Sizes& sizes = problem.sizes;
  const Arithmetic arithmetic = problem.settings.arithmetic;
  const Show<T> show(arithmetic, on_stage);

  if (sizes.rank_four && !sizes.has_wo) {
    heads = show("heads", heads);
    // out comes back in the layout in which q came
    return show("out",
                problem.settings.layout == Layout::blhd ? exchange_heads_and_length(heads) : heads);
  }
  if (sizes.H == 1 && !sizes.has_wo) return show("out", heads);

  heads = show("heads", heads);
  const Tensor<T, 3> side_by_side = show("concat", concat(heads));
  const Tensor<T, 3> out =
      show("out", sizes.has_wo ? project(side_by_side, problem.output, arithmetic) : side_by_side);
  return out.template reshaped<4>({out.size(0), 1, out.size(1), out.size(2)});
}

template <class T>
Attended<T> attend(const Problem<T>& problem, const OnStage<T>& on_stage) {
  const Settings& settings = problem.settings;
  const Visibility<T>& visibility = problem.visibility;
  const Arithmetic arithmetic = settings.arithmetic;
  const Show<T> show(arithmetic, on_stage);

  // q (B,H,L,D), k (B,G,S,D), v (B,G,S,Dv)
  const auto [q, k, v] = prepare(problem, on_stage);

  // (B,H,L,S) from here to attn
  Tensor<T, 4> logits = show("scores", scores(q, k, arithmetic));
  logits = show("scaled", scale(logits, problem.scale, problem.threads));
  if (settings.softcap) logits = show("capped", softcap(logits, *settings.softcap, arithmetic));
  if (visibility.any()) logits = show("masked", mask(logits, visibility, {}, problem.threads));

  Tensor<T, 4> attn =
      softmax(logits, settings.empty_rows, problem.sinks, 0, arithmetic, problem.threads);
  settle_empty_rows(attn, visibility);
  attn = show("attn", attn);
  if (settings.dropout) {
    attn = show("dropped",
                dropout(attn, *settings.dropout, settings.seed, problem.sizes.H, problem.sizes.L));
  }

  const Tensor<T, 4> out = finish(problem, weighted_sum(attn, v, arithmetic), on_stage);
  return {out, k, v};
}

template OnStage<float> rounding_stages(Arithmetic, const OnStage<float>&);
template OnStage<double> rounding_stages(Arithmetic, const OnStage<double>&);
template QueryKeyValue<float> prepare(const Problem<float>&, const OnStage<float>&);
template QueryKeyValue<double> prepare(const Problem<double>&, const OnStage<double>&);
template Tensor<float, 4> finish(const Problem<float>&, Tensor<float, 4>, const OnStage<float>&);
template Tensor<double, 4> finish(const Problem<double>&, Tensor<double, 4>,
                                  const OnStage<double>&);
template Attended<float> attend(const Problem<float>&, const OnStage<float>&);
template Attended<double> attend(const Problem<double>&, const OnStage<double>&);

}  // namespace qkv
