// block(): attention, residual, norm, feed-forward, residual, norm, one call a step.
#include "qkv/block/block.hpp"

#include <algorithm>
#include <functional>

#include "block/show.hpp"
#include "qkv/block/layer_norm.hpp"
#include "qkv/block/rms_norm.hpp"

namespace qkv {

namespace {

/// res[b,l,e] = x[b,l,e] + y[b,l,e]
template <class T>
Tensor<T, 3> residual(const Tensor<T, 3>& x, const Tensor<T, 3>& y) {
  auto sum = Tensor<T, 3>::make(x.sizes());
  std::ranges::transform(x.elements(), y.elements(), sum.elements().begin(), std::plus<T>());
  return sum;
}

template <class T>
Tensor<T, 3> norm_rows(const Tensor<T, 3>& x, const BlockSettings& settings) {
  return settings.kind == NormKind::layer ? layer_norm(x, settings.eps) : rms_norm(x, settings.eps);
}

/// out (B,1,L,E) of the attention over `x`, its stage x left out: the block has shown its own.
template <class T>
Tensor<T, 3> attention(const Tensor<T, 3>& x, const OnStage<T>& on_stage, BlockResult<T>& result) {
  result.attention.x = x;
  result.attended = attend<T>(result.attention, [&](std::string_view stage, Tensor<T, 4>& value) {
    if (on_stage && stage != "x") on_stage(stage, value);
  });
  return result.attended.out.template reshaped<3>(x.sizes());
}

}  // namespace

template <class T>
BlockResult<T> block(const BlockProblem<T>& problem, const OnStage<T>& hook) {
  const BlockSettings& settings = problem.settings;
  const Arithmetic arithmetic = problem.attention.settings.arithmetic;
  const OnStage<T> on_stage = rounding_stages(arithmetic, hook);
  BlockResult<T> result;
  result.attention = problem.attention;
  const auto norm1 = [&](const Tensor<T, 3>& x) {
    result.norm1_in = x;
    result.norm1_rows = norm_rows(x, settings);
    return show(on_stage, "norm1", with_gain(result.norm1_rows, problem.norm1));
  };
  const auto norm2 = [&](const Tensor<T, 3>& x) {
    result.norm2_in = x;
    result.norm2_rows = norm_rows(x, settings);
    return show(on_stage, "norm2", with_gain(result.norm2_rows, problem.norm2));
  };

  // (B,L,E) throughout
  const Tensor<T, 3> x = show(on_stage, "x", problem.attention.x);
  if (settings.order == NormOrder::pre) {
    const Tensor<T, 3> out = attention(norm1(x), on_stage, result);
    const Tensor<T, 3> res1 = show(on_stage, "res1", residual(x, out));
    const Tensor<T, 3> ff2 = feed_forward(norm2(res1), problem.feed_forward, on_stage, arithmetic);
    const Tensor<T, 3> res2 = show(on_stage, "res2", residual(res1, ff2));
    result.out = show(on_stage, "block_out", res2);
  } else {
    const Tensor<T, 3> out = attention(x, on_stage, result);
    const Tensor<T, 3> middle = norm1(show(on_stage, "res1", residual(x, out)));
    const Tensor<T, 3> ff2 = feed_forward(middle, problem.feed_forward, on_stage, arithmetic);
    const Tensor<T, 3> res2 = show(on_stage, "res2", residual(middle, ff2));
    result.out = show(on_stage, "block_out", norm2(res2));
  }
  return result;
}

template BlockResult<float> block(const BlockProblem<float>&, const OnStage<float>&);
template BlockResult<double> block(const BlockProblem<double>&, const OnStage<double>&);

}  // namespace qkv
