// Back through attn = softmax(x), with sinks or without.
#include "qkv/grad/softmax_grad.hpp"

#include <cmath>

#include "qkv/attention/softmax.hpp"

namespace qkv {

namespace {

/// r = sum_s attn[s] * dattn[s]
template <class T>
double weighted_mean(std::span<const T> attn, std::span<const T> dattn) {
  double r = 0;
  for (std::size_t s = 0; s < attn.size(); ++s)
    r += static_cast<double>(attn[s]) * static_cast<double>(dattn[s]);
  return r;
}

}  // namespace

template <class T>
SoftmaxGrad<T> softmax_grad(const Tensor<T, 4>& dattn, const Tensor<T, 4>& attn,
                            const Tensor<T, 4>& x, const Tensor<T, 1>& sinks,
                            const Visibility<T>& visibility) {
  const std::size_t B = attn.size(0), H = attn.size(1), L = attn.size(2), S = attn.size(3);
  SoftmaxGrad<T> grad;
  grad.logits = Tensor<T, 4>::make(attn.sizes());
  Tensor<T, 3> lse;
  if (!sinks.empty()) {
    grad.sinks = Tensor<T, 1>::make({H});
    lse = log_sum_exp(x);
  }
  for (std::size_t h = 0; h < H; ++h) {
    double dsink = 0;
    for (std::size_t b = 0; b < B; ++b) {
      for (std::size_t l = 0; l < L; ++l) {
        if (visibility.empty_row(b, h, l)) continue;
        const auto weights = attn.row(b, h, l), dweights = dattn.row(b, h, l);
        const double r = weighted_mean(weights, dweights);
        const auto dx = grad.logits.row(b, h, l);
        for (std::size_t s = 0; s < S; ++s) {
          dx[s] = static_cast<T>(static_cast<double>(weights[s]) *
                                 (static_cast<double>(dweights[s]) - r));
        }
        if (sinks.empty()) continue;
        // The sink's weight is 1 - sum_s attn, which would cancel where it is small.
        const double beyond = static_cast<double>(lse(b, h, l)) - static_cast<double>(sinks(h));
        dsink -= r / (1 + std::exp(beyond));
      }
    }
    if (!sinks.empty()) grad.sinks(h) = static_cast<T>(dsink);
  }
  return grad;
}

template SoftmaxGrad<float> softmax_grad(const Tensor<float, 4>&, const Tensor<float, 4>&,
                                         const Tensor<float, 4>&, const Tensor<float, 1>&,
                                         const Visibility<float>&);
template SoftmaxGrad<double> softmax_grad(const Tensor<double, 4>&, const Tensor<double, 4>&,
                                          const Tensor<double, 4>&, const Tensor<double, 1>&,
                                          const Visibility<double>&);

}  // namespace qkv
