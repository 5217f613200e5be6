// Stage masked: hidden scores replaced by the fill, float masks added to the others.
#pragma once

#include "qkv/attention/visibility.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// masked[b,h,l,s] = fill                         where the rules hide key s from query l
///                 = -Inf                         where a float mask is -Inf
///                 = x[b,h,l,s] + added[b,h,l,s]  elsewhere (added is 0 without a float mask)
/// From here on, with the default fill, -Inf means hidden.
///
/// shape   x (B,H,L,S), or a block of its rows that begins at `origin`
/// edge    a hidden score is replaced, not added to, so that a NaN in it does not leak
template <class T>
Tensor<T, 4> mask(const Tensor<T, 4>& x, const Visibility<T>& visibility, const Origin& origin = {},
                  std::size_t threads = 1);

/// What hidden scores become: -Inf, the number that was asked for, or the lowest finite value of T.
template <class T>
T fill_value(const Fill& fill);

}  // namespace qkv
