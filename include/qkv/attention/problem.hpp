// Problem: inputs in one arithmetic type that already agree with each other; every step may rely on
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/settings.hpp"
#include "qkv/attention/sizes.hpp"
#include "qkv/attention/visibility.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// y = x*W + b (in_out) or y = x*W^T + b (out_in).
template <class T>
struct Linear {
  Tensor<T, 2> weight = {};
  WeightOrder order = WeightOrder::in_out;
  Tensor<T, 1> bias = {};  ///< empty: none
  std::string where = {};  ///< the weight's file
  std::size_t in() const { return order == WeightOrder::in_out ? weight.size(0) : weight.size(1); }
  std::size_t out() const { return order == WeightOrder::in_out ? weight.size(1) : weight.size(0); }
};

/// Inputs as they lie in their files: of any strides and float type.
struct Stored {
  Array x = {}, context = {};    ///< (B,L,E), (B,S,E')
  Array q = {}, k = {}, v = {};  ///< (B,H,L,D), (B,G,S-P,D), (B,G,S-P,Dv)
};

/// What becomes of x, context, q, k and v: tensors of the arithmetic's type, or Problem::stored,
/// with the tensors left empty. Only the kernels can work on what is stored.
enum class Reading { as_tensors, as_stored };

template <class T>
struct Problem {
  Sizes sizes = {};
  Settings settings = {};
  std::size_t threads = 1;  ///< that a step may use
  double scale = 1;  ///< what the scores are multiplied by: 1/sqrt(D), --scale or 1/temperature

  Tensor<T, 3> x = {};                         ///< (B,L,E), empty unless sizes.projects
  Tensor<T, 3> context = {};                   ///< (B,S,E'), empty unless sizes.has_context
  Linear<T> query = {}, key = {}, value = {};  ///< empty unless sizes.projects
  Linear<T> output = {};                       ///< W_O; empty unless sizes.has_wo

  std::optional<Stored> stored = {};  ///< see Reading

  Tensor<T, 4> q = {};  ///< (B,H,L,D), (B,G,S-P,D), (B,G,S-P,Dv); empty where sizes.projects
  Tensor<T, 4> k = {};
  Tensor<T, 4> v = {};
  Tensor<T, 4> past_k = {};  ///< (B,G,P,D), empty without a cache
  Tensor<T, 4> past_v = {};

  Tensor<T, 1> sinks = {};                ///< (H), logits; empty: none
  Tensor<T, 1> q_gain = {}, k_gain = {};  ///< (D), of qk_norm; empty: ones

  Tensor<double, 2> query_positions = {};  ///< (B or 1, L), tokens; empty without rope
  Tensor<double, 2> key_positions = {};    ///< (B or 1, S-P)

  Visibility<T> visibility = {};
  std::vector<std::string> notes =
      {};  ///< what was decided for the user: "wq is square: read as in-out"
};

/// Reads the values that the shapes allow and settles every convention.
///
/// throws  Error naming every input that does not fit, with both shapes
template <class T>
Problem<T> make_problem(const Inputs& inputs, const Settings& settings,
                        Reading reading = Reading::as_tensors);

}  // namespace qkv
