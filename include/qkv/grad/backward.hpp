// backward(): from dout through every step of attend(), last to first.
#pragma once

#include <optional>
#include <vector>

#include "qkv/attention/problem.hpp"
#include "qkv/grad/gradient.hpp"

namespace qkv {

/// dout as attend() has out: from the user's tensor, or ones, with which the loss is the sum of
/// out.
///
/// shape   as `out` is shown -> (B,1,L,E_out), or rank 4 as it is
/// throws  Error unless it has the shape of out
template <class T>
Tensor<T, 4> upstream(const std::optional<NamedArray>& dout, const Inputs& inputs,
                      const Problem<T>& problem);

/// What backward() hands back.
template <class T>
struct Backward {
  std::vector<Gradient<T>> gradients = {};  ///< stages from out to x, then inputs, then parameters
  Tensor<T, 4> attn = {};                   ///< the weights, for judging what they let through
  std::string logits = {};                  ///< the stage that the softmax took: "masked"
};

/// The gradient of loss = sum(dout*out) with respect to every stage and to every tensor of numbers
/// in `inputs`, which `problem` was made from. All stages are held.
///
/// edge    a hidden score gets 0, whatever the fill; weights that are agreed upon for a query that
///         sees no key are constants
template <class T>
Backward<T> backward(const Inputs& inputs, const Problem<T>& problem, const Tensor<T, 4>& dout);

}  // namespace qkv
