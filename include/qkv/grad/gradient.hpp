// Gradient: of the loss sum(dout*out) with respect to one stage, input or weight; how large, and
// brought to a norm.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// Of what: a step of the computation; a tensor that the user gave; something that is trained.
enum class GradientOf { stage, input, parameter };

template <class T>
struct Gradient {
  std::string of;  ///< "attn", "x", "wq", "past_k", "q_gain"
  GradientOf kind = GradientOf::stage;
  Shape shape;               ///< that of the user's tensor, or the stage's as trace shows it
  Tensor<T, 1> values = {};  ///< row-major
};

/// norm = sqrt(sum(g^2)), both over the finite values and in double: large ones do not overflow.
struct GradientSize {
  double norm = 0, max_abs = 0;
  std::size_t nan = 0, inf = 0, count = 0;
  bool finite() const { return nan + inf == 0; }
};

template <class T>
GradientSize size_of(const Gradient<T>& gradient);

/// What clip_gradients() did.
struct Clipped {
  double norm = 0;    ///< of all clipped gradients together, before; NaN or Inf where one is
  double factor = 1;  ///< what they were multiplied by
  std::vector<std::string> of = {};
};

/// Multiplies the gradients of all parameters (where there is none, of the inputs) by
/// min(1, max_norm / (norm + 1e-6)), norm that of all of them as one vector. Gradients of stages
/// stay as they are.
///
/// edge    a norm that is not finite clips nothing: every gradient would become 0 or NaN
/// source  Pascanu et al. 2013 (arXiv:1211.5063); torch.nn.utils.clip_grad_norm_
template <class T>
Clipped clip_gradients(std::vector<Gradient<T>>& gradients, double max_norm);

}  // namespace qkv
