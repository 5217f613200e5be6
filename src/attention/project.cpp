// Stages q, k, v and out: y = x*W + b.
#include "qkv/attention/project.hpp"

#include "qkv/tensor/portable.hpp"

namespace qkv {

template <class T>
Tensor<T, 3> project(const Tensor<T, 3>& x, const Linear<T>& linear, Arithmetic arithmetic) {
  const std::size_t B = x.size(0), L = x.size(1), in = linear.in(), out = linear.out();
  auto y = Tensor<T, 3>::make({B, L, out});
  const Operand operand =
      linear.order == WeightOrder::out_in ? Operand::transposed : Operand::as_stored;
  matmul<T>(arithmetic, B * L, out, in, {x.data(), in},
            {linear.weight.data(), linear.weight.size(1), operand}, y.data(), out);
  if (!linear.bias.empty()) {
    for (std::size_t b = 0; b < B; ++b) {
      for (std::size_t l = 0; l < L; ++l) {
        for (std::size_t e = 0; e < out; ++e) y(b, l, e) += linear.bias(e);
      }
    }
  }
  return y;
}

template Tensor<float, 3> project(const Tensor<float, 3>&, const Linear<float>&, Arithmetic);
template Tensor<double, 3> project(const Tensor<double, 3>&, const Linear<double>&, Arithmetic);

}  // namespace qkv
