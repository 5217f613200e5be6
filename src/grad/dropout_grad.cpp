// Back through dropped = attn*kept/(1-p).
#include "qkv/grad/dropout_grad.hpp"

#include "qkv/attention/dropout.hpp"

namespace qkv {

template <class T>
Tensor<T, 4> dropout_grad(const Tensor<T, 4>& ddropped, double p, std::uint64_t seed) {
  // Dropout multiplies each element by a number that does not depend on it, so its derivative is
  // dropout itself.
  return dropout(ddropped, p, seed, ddropped.size(1), ddropped.size(2));
}

template Tensor<float, 4> dropout_grad(const Tensor<float, 4>&, double, std::uint64_t);
template Tensor<double, 4> dropout_grad(const Tensor<double, 4>&, double, std::uint64_t);

}  // namespace qkv
