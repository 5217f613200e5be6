// Stage attn: softmax over the keys.
#pragma once

#include "qkv/attention/settings.hpp"
#include "qkv/attention/visibility.hpp"
#include "qkv/tensor/arithmetic.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// attn[b,h,l,s] = exp(x[b,h,l,s] - m) / sum_s exp(x[b,h,l,s] - m),  m = max_s x[b,h,l,s]
/// With sinks, exp(sinks[h] - m) is one more term of the sum, m is at least sinks[h], and the row
/// sums to less than 1.
///
/// shape   x (B,H,L,S), sinks (H) or empty -> attn (B,H,L,S); x may be a block of the heads from
///         `first_head` on
/// range   x logits, -Inf means "hidden"; attn in [0,1], each row over s sums to 1; the sum is
///         taken in double
/// edge    a row that is all -Inf gives zeros, NaN or 1/S as `empty_rows` says; in half precision
///         it has overflowed and gives NaN without a sink, until settle_empty_rows() knows better;
///         NaN or +Inf in gives NaN out
/// source  Milakov & Gimelshein 2018 (arXiv:1805.02867), Algorithm 2
template <class T>
Tensor<T, 4> softmax(const Tensor<T, 4>& x, EmptyRows empty_rows, const Tensor<T, 1>& sinks = {},
                     std::size_t first_head = 0, Arithmetic arithmetic = Arithmetic::native,
                     std::size_t threads = 1);

/// Gives rows whose every key is hidden their agreed weights, also where a finite fill made the
/// softmax of them something else. Changes nothing where no rule hides anything.
///
/// shape   attn (B,H,L,S), or a block of its rows that begins at `origin`
template <class T>
void settle_empty_rows(Tensor<T, 4>& attn, const Visibility<T>& visibility,
                       const Origin& origin = {});

/// lse[b,h,l] = m + ln sum_s exp(x[b,h,l,s] - m), the natural logarithm; -Inf where every x is
/// -Inf.
///
/// shape   x (B,H,L,S) -> (B,H,L)
template <class T>
Tensor<T, 3> log_sum_exp(const Tensor<T, 4>& x);

}  // namespace qkv
