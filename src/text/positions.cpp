// Positions: what is added to the embedding of a token for the place where it stands.
#include "qkv/text/positions.hpp"

#include <cmath>

namespace qkv {

Tensor<double, 2> sinusoidal_positions(std::size_t L, std::size_t E) {
  auto positions = Tensor<double, 2>::make({L, E});
  for (std::size_t e = 0; e < E; ++e) {
    const double exponent = static_cast<double>(e - e % 2) / static_cast<double>(E);
    const double wavelength = std::pow(10000.0, exponent);
    for (std::size_t l = 0; l < L; ++l) {
      const double angle = static_cast<double>(l) / wavelength;
      positions(l, e) = e % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  return positions;
}

}  // namespace qkv
