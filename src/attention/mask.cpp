// Stage masked: hidden scores replaced by the fill, float masks added to the others.
#include "qkv/attention/mask.hpp"

#include <limits>

#include "qkv/base/parallel.hpp"

namespace qkv {

template <class T>
T fill_value(const Fill& fill) {
  switch (fill.kind) {
    case Fill::Kind::number:
      return static_cast<T>(fill.number);
    case Fill::Kind::lowest:
      return std::numeric_limits<T>::lowest();
    case Fill::Kind::negative_infinity:
      break;
  }
  return -std::numeric_limits<T>::infinity();
}

template <class T>
Tensor<T, 4> mask(const Tensor<T, 4>& x, const Visibility<T>& visibility, const Origin& origin,
                  std::size_t threads) {
  const T fill = fill_value<T>(visibility.fill);
  constexpr T minus_infinity = -std::numeric_limits<T>::infinity();
  auto y = Tensor<T, 4>::make(x.sizes());
  const std::size_t heads = x.size(1), length = x.size(2);
  const auto mask_row = [&](std::size_t b, std::size_t h, std::size_t l) {
    const auto from = x.row(b, h, l);
    const auto to = y.row(b, h, l);
    for (std::size_t s = 0; s < to.size(); ++s) {
      const std::size_t B = origin.b + b, H = origin.h + h, i = origin.i + l;
      const T added = visibility.bias(B, H, i, s);
      if (added == minus_infinity) {
        to[s] = minus_infinity;
      } else if (visibility.hidden(B, H, i, s)) {
        to[s] = fill;
      } else {
        to[s] = from[s] + added;
      }
    }
  };
  const std::size_t rows = x.size(0) * heads * length;
  parallel_blocks(threads, rows, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n)
      mask_row(n / length / heads, n / length % heads, n % length);
  });
  return y;
}

template float fill_value<float>(const Fill&);
template double fill_value<double>(const Fill&);
template Tensor<float, 4> mask(const Tensor<float, 4>&, const Visibility<float>&, const Origin&,
                               std::size_t);
template Tensor<double, 4> mask(const Tensor<double, 4>&, const Visibility<double>&, const Origin&,
                                std::size_t);

}  // namespace qkv
