// Settings of an encoder block: which norm stands where, and what bends the feed-forward.
#pragma once

namespace qkv {

enum class NormOrder { post, pre };  ///< norm(x + f(x)) / x + f(norm(x))
enum class NormKind { layer, rms };  ///< mean 0 and variance 1 / mean square 1
enum class Activation { relu, gelu, gelu_tanh, silu };

struct BlockSettings {
  NormOrder order = NormOrder::post;
  NormKind kind = NormKind::layer;
  Activation activation = Activation::relu;
  double eps = 1e-5;  ///< added to the variance, or mean square, under the root
};

}  // namespace qkv
