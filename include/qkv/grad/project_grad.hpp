// Back through q, k, v and out: the gradients of x, W and b in y = x*W + b.
#pragma once

#include "qkv/attention/problem.hpp"
#include "qkv/tensor/tensor.hpp"

namespace qkv {

template <class T>
struct ProjectGrad {
  Tensor<T, 3> x = {};       ///< (B,L,in)
  Tensor<T, 2> weight = {};  ///< as it is stored: (in,out) or (out,in)
  Tensor<T, 1> bias = {};    ///< (out), empty without a bias
};

/// dx = dy*W^T,  dW = sum_b x[b]^T*dy[b],  db = sum_{b,l} dy[b,l,:]  (W stored in-out)
/// dx = dy*W,    dW = sum_b dy[b]^T*x[b],  db the same               (W stored out-in)
///
/// shape   dy (B,L,out), x (B,L,in)
template <class T>
ProjectGrad<T> project_grad(const Tensor<T, 3>& dy, const Tensor<T, 3>& x, const Linear<T>& linear);

}  // namespace qkv
