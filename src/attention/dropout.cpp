// Stage dropped: weights set to 0 at random, as in training.
#include "qkv/attention/dropout.hpp"

namespace qkv {

namespace {

/// SplitMix64 (Steele, Lea & Flood 2014): every bit of the input changes half of the output's.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

bool kept(double p, std::uint64_t seed, std::uint64_t place) {
  const std::uint64_t random = mixed(mixed(seed) ^ place);
  return static_cast<double>(random >> 11) * 0x1p-53 >= p;  // 53 bits: [0,1)
}

template <class T>
Tensor<T, 4> dropout(const Tensor<T, 4>& attn, double p, std::uint64_t seed, std::size_t H,
                     std::size_t L, const Origin& origin) {
  auto dropped = Tensor<T, 4>::make(attn.sizes());
  const T factor = p < 1 ? static_cast<T>(1 / (1 - p)) : T(0);
  const std::size_t S = attn.size(3);
  for (std::size_t b = 0; b < attn.size(0); ++b) {
    for (std::size_t h = 0; h < attn.size(1); ++h) {
      for (std::size_t l = 0; l < attn.size(2); ++l) {
        const std::size_t row = ((origin.b + b) * H + origin.h + h) * L + origin.i + l;
        const auto from = attn.row(b, h, l);
        const auto to = dropped.row(b, h, l);
        for (std::size_t s = 0; s < S; ++s)
          to[s] = kept(p, seed, row * S + s) ? from[s] * factor : T(0);
      }
    }
  }
  return dropped;
}

template Tensor<float, 4> dropout(const Tensor<float, 4>&, double, std::uint64_t, std::size_t,
                                  std::size_t, const Origin&);
template Tensor<double, 4> dropout(const Tensor<double, 4>&, double, std::uint64_t, std::size_t,
                                   std::size_t, const Origin&);

}  // namespace qkv
