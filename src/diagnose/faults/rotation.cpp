// Rotation: the positions of a problem, and rotating a stage by other ones.
#include "diagnose/faults/rotation.hpp"

#include "qkv/attention/rope.hpp"

namespace qkv {

Tensor<double, 4> rotated(const Held& held, const Tensor<double, 4>& x,
                          const Tensor<double, 2>& positions, std::size_t rope_dim) {
  const Settings& settings = held.problem().settings;
  const bool fits = positions.size(1) == x.size(2) &&
                    (positions.size(0) == 1 || positions.size(0) == x.size(0)) &&
                    rope_dim <= x.size(3);
  if (!fits || !settings.rope_base) return x;
  return rope(x, positions, *settings.rope_base, settings.rope_style, rope_dim);
}

Tensor<double, 4> rotated(const Held& held, const Tensor<double, 4>& x,
                          const Tensor<double, 2>& positions) {
  return rotated(held, x, positions, rotating_channels(held.problem()));
}

Tensor<double, 2> counted_positions(std::size_t count, double start) {
  auto positions = Tensor<double, 2>::make({1, count});
  for (std::size_t l = 0; l < count; ++l)
    positions(std::size_t{0}, l) = start + static_cast<double>(l);
  return positions;
}

Tensor<double, 2> shifted(const Tensor<double, 2>& positions, double shift) {
  Tensor<double, 2> moved = positions.clone();
  for (double& position : moved.elements()) position += shift;
  return moved;
}

std::size_t rotating_channels(const Problem<double>& problem) {
  return problem.settings.rope_dim.value_or(problem.sizes.D);
}

}  // namespace qkv
