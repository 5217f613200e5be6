// Stage ff_act: what bends the feed-forward, element by element.
#pragma once

#include "qkv/block/settings.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

///   relu       max(a, 0)
///   gelu       a*Phi(a) = a/2 * (1 + erf(a/sqrt(2)))
///   gelu-tanh  a/2 * (1 + tanh(sqrt(2/pi) * (a + 0.044715*a^3)))
///   silu       a / (1 + exp(-a))
///
/// shape   any, kept
/// range   in double, rounded once at the end
/// edge    NaN stays NaN
/// source  Hendrycks & Gimpel 2016 (arXiv:1606.08415), section 2, for gelu, gelu-tanh and silu
double activated(double a, Activation activation);

/// The same for each element.
template <class T>
Tensor<T, 3> activate(const Tensor<T, 3>& a, Activation activation);

}  // namespace qkv
