// backward(): one call a step, last to first.
#include "qkv/grad/backward.hpp"

#include <map>
#include <string>

#include "qkv/attention/fused_weights.hpp"
#include "qkv/attention/mask_shape.hpp"
#include "qkv/attention/pipeline.hpp"
#include "qkv/attention/split_heads.hpp"
#include "qkv/grad/cache_grad.hpp"
#include "qkv/grad/concat_grad.hpp"
#include "qkv/grad/dropout_grad.hpp"
#include "qkv/grad/mask_grad.hpp"
#include "qkv/grad/project_grad.hpp"
#include "qkv/grad/qk_norm_grad.hpp"
#include "qkv/grad/rope_grad.hpp"
#include "qkv/grad/scale_grad.hpp"
#include "qkv/grad/scores_grad.hpp"
#include "qkv/grad/softcap_grad.hpp"
#include "qkv/grad/softmax_grad.hpp"
#include "qkv/grad/split_heads_grad.hpp"
#include "qkv/grad/weighted_sum_grad.hpp"
#include "recorder.hpp"

namespace qkv {

namespace {

/// (B,1,L,E) <-> (B,L,E)
template <class T>
Tensor<T, 3> three(const Tensor<T, 4>& x) {
  return x.template reshaped<3>({x.size(0), x.size(2), x.size(3)});
}

template <class T>
Tensor<T, 3> sum(const Tensor<T, 3>& a, const Tensor<T, 3>& b) {
  auto y = Tensor<T, 3>::make(a.sizes());
  for (std::size_t n = 0; n < y.size(); ++n) y.data()[n] = a.data()[n] + b.data()[n];
  return y;
}

template <class T>
class Pass {
 public:
  Pass(const Inputs& inputs, const Problem<T>& problem)
      : inputs_(inputs),
        problem_(problem),
        sizes_(problem.sizes),
        settings_(problem.settings),
        record_(stage_shapes(inputs, problem.settings, problem.sizes)) {
    forward_ = attend<T>(problem, [this](std::string_view stage, Tensor<T, 4>& value) {
      held_[std::string(stage)] = value;
    });
  }

  Backward<T> run(const Tensor<T, 4>& dout) {
    // (B,H,L,Dv)
    const Tensor<T, 4> dheads = through_output(dout);

    // dropped (B,H,L,S); v with the cache in front, (B,G,S,Dv)
    const Tensor<T, 4>& weights = held_.at(settings_.dropout ? "dropped" : "attn");
    auto [dweights, dv] = weighted_sum_grad(dheads, weights, forward_.present_v);

    // (B,H,L,S) from here to scores
    const Tensor<T, 4> dscores = through_weights(dweights);

    // q (B,H,L,D); k with the cache in front, (B,G,S,D)
    auto [dq, dk] = scores_grad(dscores, latest("q"), forward_.present_k);
    dk = through_cache("past_k", inputs_.past_k, dk);
    dv = through_cache("past_v", inputs_.past_v, dv);
    through_rope(dq, dk);
    through_qk_norm(dq, dk);

    if (sizes_.projects) {
      record_.stage("q", dq);
      record_.stage("k", dk);
      record_.stage("v", dv);
      through_projections(dq, dk, dv);
    } else {
      record_.given("q", inputs_.q->array.shape, as_given(dq));
      record_.given("k", inputs_.k->array.shape, as_given(dk));
      record_.given("v", inputs_.v->array.shape, as_given(dv));
    }
    return {std::move(record_).all(), held_.at("attn"), logits()};
  }

 private:
  /// The stage that the softmax worked on.
  std::string logits() const {
    return held_.contains("masked") ? "masked" : held_.contains("capped") ? "capped" : "scaled";
  }

  /// q or k as the product of the scores took it.
  const Tensor<T, 4>& latest(const std::string& role) const {
    for (const char* ending : {"_rope", "_norm"}) {
      if (held_.contains(role + ending)) return held_.at(role + ending);
    }
    return held_.at(role);
  }

  /// out, concat, heads: dout -> dheads
  Tensor<T, 4> through_output(const Tensor<T, 4>& dout) {
    record_.stage("out", dout);
    if (sizes_.rank_four && !sizes_.has_wo) {
      const bool blhd = settings_.layout == Layout::blhd;
      Tensor<T, 4> dheads = blhd ? exchange_heads_and_length(dout) : dout;
      record_.stage("heads", dheads);
      return dheads;
    }
    if (sizes_.H == 1 && !sizes_.has_wo) return dout;

    Tensor<T, 3> dconcat = three(dout);
    if (sizes_.has_wo) {
      const ProjectGrad<T> grad = project_grad(dconcat, three(held_.at("concat")), problem_.output);
      record_.parameter("wo", grad.weight);
      record_.parameter("bo", grad.bias);
      dconcat = grad.x;
    }
    record_.stage("concat", dconcat);
    Tensor<T, 4> dheads = concat_grad(dconcat, sizes_.H);
    record_.stage("heads", dheads);
    return dheads;
  }

  /// dropped, attn, masked, capped, scaled, scores: the gradient of the weights -> dscores
  Tensor<T, 4> through_weights(Tensor<T, 4> d) {
    if (settings_.dropout) {
      record_.stage("dropped", d);
      d = dropout_grad(d, *settings_.dropout, settings_.seed);
    }
    record_.stage("attn", d);
    const SoftmaxGrad<T> grad =
        softmax_grad(d, held_.at("attn"), held_.at(logits()), problem_.sinks, problem_.visibility);
    record_.parameter("sinks", grad.sinks);
    d = grad.logits;
    if (problem_.visibility.any()) {
      record_.stage("masked", d);
      d = mask_grad(d, problem_.visibility);
      if (!problem_.visibility.added.empty()) through_float_mask(d);
    }
    if (settings_.softcap) {
      record_.stage("capped", d);
      d = softcap_grad(d, held_.at("capped"), *settings_.softcap);
    }
    record_.stage("scaled", d);
    d = scale_grad(d, problem_.scale);
    record_.stage("scores", d);
    return d;
  }

  void through_float_mask(const Tensor<T, 4>& d) {
    const Tensor<T, 4> whole = added_grad(d, problem_.visibility.added);
    const Shape& shape = inputs_.mask->array.shape;
    // Of a mask with fewer than S columns, the columns that it lacks were hidden.
    const std::size_t columns = mask_shape_by_axis(shape, settings_, sizes_).back();
    auto dmask = Tensor<T, 4>::make({whole.size(0), whole.size(1), whole.size(2), columns});
    const std::size_t rows = whole.size(0) * whole.size(1) * whole.size(2);
    for (std::size_t row = 0; row < rows; ++row)
      std::copy_n(whole.data() + row * whole.size(3), columns, dmask.data() + row * columns);
    record_.input("mask", shape, dmask);
  }

  Tensor<T, 4> through_cache(const char* name, const std::optional<NamedArray>& past,
                             const Tensor<T, 4>& dy) {
    const CacheGrad<T> grad = cache_grad(dy, sizes_.P);
    if (past) record_.input(name, past->array.shape, past_or_nothing(grad.past, dy));
    return grad.now;
  }
  /// A cache of length 0 has a gradient without elements.
  static Tensor<T, 4> past_or_nothing(const Tensor<T, 4>& past, const Tensor<T, 4>& dy) {
    if (!past.empty()) return past;
    return Tensor<T, 4>::make({dy.size(0), dy.size(1), 0, dy.size(3)});
  }

  void through_rope(Tensor<T, 4>& dq, Tensor<T, 4>& dk) {
    if (!settings_.rope_base) return;
    record_.stage("q_rope", dq);
    record_.stage("k_rope", dk);
    const double base = *settings_.rope_base;
    const std::size_t rope_dim = settings_.rope_dim.value_or(sizes_.D);
    dq = rope_grad(dq, problem_.query_positions, base, settings_.rope_style, rope_dim);
    dk = rope_grad(dk, problem_.key_positions, base, settings_.rope_style, rope_dim);
  }

  void through_qk_norm(Tensor<T, 4>& dq, Tensor<T, 4>& dk) {
    if (!settings_.qk_norm) return;
    record_.stage("q_norm", dq);
    record_.stage("k_norm", dk);
    const QkNorm kind = *settings_.qk_norm;
    const double eps = settings_.eps_of_norm();
    const QkNormGrad<T> q = qk_norm_grad(dq, held_.at("q"), kind, eps, problem_.q_gain);
    const QkNormGrad<T> k = qk_norm_grad(dk, held_.at("k"), kind, eps, problem_.k_gain);
    record_.parameter("q_gain", q.gain);
    record_.parameter("k_gain", k.gain);
    dq = q.x;
    dk = k.x;
  }

  void through_projections(const Tensor<T, 4>& dq, const Tensor<T, 4>& dk, const Tensor<T, 4>& dv) {
    const Tensor<T, 3> source = sizes_.has_context ? problem_.context : problem_.x;
    const ProjectGrad<T> q = project_grad(split_heads_grad(dq), problem_.x, problem_.query);
    const ProjectGrad<T> k = project_grad(split_heads_grad(dk), source, problem_.key);
    const ProjectGrad<T> v = project_grad(split_heads_grad(dv), source, problem_.value);
    // What was used more than once gets the sum of what each use sends back.
    const Tensor<T, 3> from_keys_and_values = sum(k.x, v.x);
    if (sizes_.has_context) {
      record_.stage("context", from_keys_and_values, true);
      record_.stage("x", q.x, true);
    } else {
      record_.stage("x", sum(q.x, from_keys_and_values), true);
    }
    if (inputs_.wqkv) {
      record_fused(q, k, v);
    } else {
      record_.parameter("wq", q.weight);
      record_.parameter("wk", k.weight);
      record_.parameter("wv", v.weight);
    }
    if (inputs_.bq) record_.parameter("bq", q.bias);
    if (inputs_.bk) record_.parameter("bk", k.bias);
    if (inputs_.bv) record_.parameter("bv", v.bias);
  }

  void record_fused(const ProjectGrad<T>& q, const ProjectGrad<T>& k, const ProjectGrad<T>& v) {
    record_.parameter("wqkv", join_fused(q.weight, k.weight, v.weight, sizes_, settings_.qkv_order,
                                         problem_.query.order));
    if (!inputs_.bqkv) return;
    // A separate bias took the place of its part of the fused one, which then has no effect.
    const auto part = [](const Tensor<T, 1>& bias, const std::optional<NamedArray>& separate) {
      return separate ? Tensor<T, 1>::make(bias.sizes()) : bias;
    };
    record_.parameter("bqkv", join_fused(part(q.bias, inputs_.bq), part(k.bias, inputs_.bk),
                                         part(v.bias, inputs_.bv), sizes_, settings_.qkv_order));
  }

  /// (B,H,L,D) in the order of axes in which q, k and v were given.
  Tensor<T, 4> as_given(const Tensor<T, 4>& d) const {
    if (sizes_.rank_four && settings_.layout == Layout::bhld) return d;
    return exchange_heads_and_length(d);
  }

  const Inputs& inputs_;
  const Problem<T>& problem_;
  const Sizes& sizes_;
  const Settings& settings_;
  Recorder<T> record_;
  Attended<T> forward_;
  std::map<std::string, Tensor<T, 4>> held_;
};

}  // namespace

template <class T>
Backward<T> backward(const Inputs& inputs, const Problem<T>& problem, const Tensor<T, 4>& dout) {
  return Pass<T>(inputs, problem).run(dout);
}

template Backward<float> backward(const Inputs&, const Problem<float>&, const Tensor<float, 4>&);
template Backward<double> backward(const Inputs&, const Problem<double>&, const Tensor<double, 4>&);

}  // namespace qkv
