// Stages ff1, ff_act, ff3, ff_gated and ff2: the feed-forward.
#include "qkv/block/feed_forward.hpp"

#include <algorithm>
#include <functional>

#include "block/show.hpp"
#include "qkv/attention/project.hpp"
#include "qkv/block/activation.hpp"

namespace qkv {

namespace {

template <class T>
Tensor<T, 3> product(const Tensor<T, 3>& a, const Tensor<T, 3>& b) {
  auto y = Tensor<T, 3>::make(a.sizes());
  std::ranges::transform(a.elements(), b.elements(), y.elements().begin(), std::multiplies<T>());
  return y;
}

}  // namespace

template <class T>
Tensor<T, 3> feed_forward(const Tensor<T, 3>& x, const FeedForward<T>& weights,
                          const OnStage<T>& on_stage, Arithmetic arithmetic) {
  const Tensor<T, 3> ff1 = show(on_stage, "ff1", project(x, weights.w1, arithmetic));
  Tensor<T, 3> inner = show(on_stage, "ff_act", activate(ff1, weights.activation));
  if (!weights.w3.weight.empty()) {
    const Tensor<T, 3> ff3 = show(on_stage, "ff3", project(x, weights.w3, arithmetic));
    inner = show(on_stage, "ff_gated", product(inner, ff3));
  }
  return show(on_stage, "ff2", project(inner, weights.w2, arithmetic));
}

template Tensor<float, 3> feed_forward(const Tensor<float, 3>&, const FeedForward<float>&,
                                       const OnStage<float>&, Arithmetic);
template Tensor<double, 3> feed_forward(const Tensor<double, 3>&, const FeedForward<double>&,
                                        const OnStage<double>&, Arithmetic);

}  // namespace qkv
