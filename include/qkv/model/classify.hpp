// Classify: from the output of attention to class probabilities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "qkv/attention/problem.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// (B,L), 1 where a token is real: what key padding and lengths leave. A mask makes no padding.
/// needs   self-attention without a cache: S = L
template <class T>
Tensor<std::uint8_t, 2> real_tokens(const Visibility<T>& visibility);

/// mean[b,e] = sum_l real[b,l] * x[b,l,e] / sum_l real[b,l]
///
/// shape   x (B,L,E), real (B,L) -> (B,E)
/// range   sums in double; what stands at padding, also NaN, never counts
/// throws  Error naming the first batch row without a real token
template <class T>
Tensor<T, 2> mean_over_real(const Tensor<T, 3>& x, const Tensor<std::uint8_t, 2>& real);

/// The last linear map, C classes: fc_w is (E,C), in-out, or (C,E), out-in. Which it is goes, like
/// that of the other weights, by `order`, then by the shape; where the shape fits both ways, by
/// that of `siblings` whose shape tells, else it is in-out, and `note` says so.
///
/// throws  Error naming the file: rank, a width that is not E, a bias that is not (C)
template <class T>
Linear<T> read_classifier(const NamedArray& fc_w, const std::optional<NamedArray>& fc_b,
                          std::size_t E, WeightOrder order, const Inputs& siblings,
                          std::string& note);

template <class T>
struct Classified {
  Tensor<T, 2> mean = {};    ///< (B,E)
  Tensor<T, 2> logits = {};  ///< (B,C) = mean*W + b
  Tensor<T, 2> p = {};       ///< (B,C) = softmax of a row of logits
};

/// shape   out (B,L,E), the output of attention; real (B,L)
template <class T>
Classified<T> classify(const Tensor<T, 3>& out, const Tensor<std::uint8_t, 2>& real,
                       const Linear<T>& fc);

}  // namespace qkv
