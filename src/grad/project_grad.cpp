// Back through y = x*W + b.
#include "qkv/grad/project_grad.hpp"

#include "qkv/tensor/matmul.hpp"

namespace qkv {

namespace {

/// db[e] = sum_{b,l} dy[b,l,e], summed in double.
template <class T>
Tensor<T, 1> bias_grad(const Tensor<T, 3>& dy) {
  auto db = Tensor<T, 1>::make({dy.size(2)});
  for (std::size_t e = 0; e < dy.size(2); ++e) {
    double sum = 0;
    for (std::size_t b = 0; b < dy.size(0); ++b) {
      for (std::size_t l = 0; l < dy.size(1); ++l) sum += static_cast<double>(dy(b, l, e));
    }
    db(e) = static_cast<T>(sum);
  }
  return db;
}

}  // namespace

template <class T>
ProjectGrad<T> project_grad(const Tensor<T, 3>& dy, const Tensor<T, 3>& x,
                            const Linear<T>& linear) {
  const std::size_t rows = x.size(0) * x.size(1), in = linear.in(), out = linear.out();
  const bool in_out = linear.order == WeightOrder::in_out;
  ProjectGrad<T> grad;

  // (rows,out) * (in,out)^T, or * (out,in)
  grad.x = Tensor<T, 3>::make(x.sizes());
  matmul(rows, in, out, {dy.data(), out},
         {linear.weight.data(), linear.weight.size(1),
          in_out ? Operand::transposed : Operand::as_stored},
         grad.x.data(), in);

  // Batch and length are one long axis, which the product sums over.
  grad.weight = Tensor<T, 2>::make(linear.weight.sizes());
  if (in_out) {
    matmul(in, out, rows, {x.data(), in, Operand::transposed}, {dy.data(), out}, grad.weight.data(),
           out);
  } else {
    matmul(out, in, rows, {dy.data(), out, Operand::transposed}, {x.data(), in}, grad.weight.data(),
           in);
  }
  if (!linear.bias.empty()) grad.bias = bias_grad(dy);
  return grad;
}

template ProjectGrad<float> project_grad(const Tensor<float, 3>&, const Tensor<float, 3>&,
                                         const Linear<float>&);
template ProjectGrad<double> project_grad(const Tensor<double, 3>&, const Tensor<double, 3>&,
                                          const Linear<double>&);

}  // namespace qkv
