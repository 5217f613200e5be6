// Sampled head: weights of some queries and keys that all see each other, for the rank of their
// log.
#pragma once

#include <cstddef>
#include <vector>

#include "qkv/checks/check.hpp"
#include "rounding.hpp"

namespace qkv::checks {

using Indices = std::vector<std::size_t>;

/// `some` of `all` indices, evenly spaced.
Indices evenly(std::size_t all, std::size_t some);

struct SampledHead {
  Tensor<double, 2> attn;        ///< (queries, keys)
  Tensor<double, 2> log_errors;  ///< how far their logarithms may be off, row constants apart
};

/// The largest part of the given queries and keys of head (b,h) in which no key is hidden and no
/// weight has been lost to underflow.
template <class T>
SampledHead sample_head(const Evidence<T>& evidence, std::size_t b, std::size_t h,
                        const Indices& queries, const Indices& keys, const Rounding& rounding);

}  // namespace qkv::checks
