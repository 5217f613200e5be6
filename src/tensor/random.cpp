// Random numbers that are the same on every machine.
#include "qkv/tensor/random.hpp"

#include <bit>
#include <cmath>

namespace qkv {

Random::Random(std::uint64_t seed, std::string_view name) : state_(seed) {
  // FNV-1a keeps streams of different names apart.
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : name)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  state_ = bits() ^ hash;
}

std::uint64_t Random::bits() {
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Random::normal() {
  while (true) {
    const double u = 2 * uniform() - 1, v = 2 * uniform() - 1;
    const double s = u * u + v * v;
    // std::sqrt is exactly rounded everywhere; std::log is not.
    if (s > 0 && s < 1) return u * std::sqrt(-2 * portable_log(s) / s);
  }
}

double portable_log(double x) {
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh(t), t = (m-1)/(m+1), |t| < 0.1716.
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto e = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++e;
  }
  const double t = (m - 1) / (m + 1), t2 = t * t;
  // 2 artanh(t) = 2t (1 + t^2/3 + t^4/5 + ...): eleven terms reach 2^-53 for |t| < 0.1716.
  double sum = 0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * t2 + 1.0 / n;
  return 2 * t * sum + static_cast<double>(e) * 0.6931471805599453;
}

}  // namespace qkv
