// Back through masked = x + added where visible, else the fill.
#include "qkv/grad/mask_grad.hpp"

namespace qkv {

template <class T>
Tensor<T, 4> mask_grad(const Tensor<T, 4>& dmasked, const Visibility<T>& visibility) {
  auto dx = Tensor<T, 4>::make(dmasked.sizes());
  for (std::size_t b = 0; b < dx.size(0); ++b) {
    for (std::size_t h = 0; h < dx.size(1); ++h) {
      for (std::size_t l = 0; l < dx.size(2); ++l) {
        const auto from = dmasked.row(b, h, l);
        const auto to = dx.row(b, h, l);
        for (std::size_t s = 0; s < to.size(); ++s)
          to[s] = visibility.hidden(b, h, l, s) ? T(0) : from[s];
      }
    }
  }
  return dx;
}

template <class T>
Tensor<T, 4> added_grad(const Tensor<T, 4>& dx, const Tensor<T, 4>& added) {
  auto sums = Tensor<double, 4>::make(added.sizes());
  const auto place = [&](std::size_t axis, std::size_t index) {
    return added.size(axis) == 1 ? 0 : index;
  };
  for (std::size_t b = 0; b < dx.size(0); ++b) {
    for (std::size_t h = 0; h < dx.size(1); ++h) {
      for (std::size_t l = 0; l < dx.size(2); ++l) {
        const auto from = dx.row(b, h, l);
        const auto to = sums.row(place(0, b), place(1, h), place(2, l));
        for (std::size_t s = 0; s < from.size(); ++s)
          to[place(3, s)] += static_cast<double>(from[s]);
      }
    }
  }
  auto dadded = Tensor<T, 4>::make(added.sizes());
  for (std::size_t n = 0; n < dadded.size(); ++n) dadded.data()[n] = static_cast<T>(sums.data()[n]);
  return dadded;
}

template Tensor<float, 4> mask_grad(const Tensor<float, 4>&, const Visibility<float>&);
template Tensor<double, 4> mask_grad(const Tensor<double, 4>&, const Visibility<double>&);
template Tensor<float, 4> added_grad(const Tensor<float, 4>&, const Tensor<float, 4>&);
template Tensor<double, 4> added_grad(const Tensor<double, 4>&, const Tensor<double, 4>&);

}  // namespace qkv
