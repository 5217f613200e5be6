// Stages q, k, v and out: a linear map of the last axis.
#pragma once

#include "qkv/attention/problem.hpp"
#include "qkv/tensor/arithmetic.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

/// y[b,l,:] = x[b,l,:]*W + bias   (W stored in-out, as a Parameter)
/// y[b,l,:] = x[b,l,:]*W^T + bias (W stored out-in, as torch.nn.Linear does)
///
/// shape   x (B,L,in) -> y (B,L,out)
template <class T>
Tensor<T, 3> project(const Tensor<T, 3>& x, const Linear<T>& linear,
                     Arithmetic arithmetic = Arithmetic::native);

}  // namespace qkv
