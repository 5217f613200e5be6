// Rearranging (B,H,L,D): the moves of numbers that wrong reshapes and transposes make.
#include "diagnose/faults/rearrange.hpp"

#include <algorithm>

#include "qkv/attention/split_heads.hpp"

namespace qkv {

namespace {

using Four = Tensor<double, 4>;

/// The same with axis n of the result taken from axis order[n].
Four permuted(const Four& x, const std::array<std::size_t, 4>& order) {
  std::array<std::size_t, 4> sizes{}, steps{}, stride{1, 1, 1, 1};
  for (std::size_t axis = 3; axis > 0; --axis) stride[axis - 1] = stride[axis] * x.size(axis);
  for (std::size_t axis = 0; axis < 4; ++axis) {
    sizes[axis] = x.size(order[axis]);
    steps[axis] = stride[order[axis]];
  }
  auto y = Four::make(sizes);
  double* to = y.data();
  for (std::size_t a = 0; a < sizes[0]; ++a) {
    for (std::size_t b = 0; b < sizes[1]; ++b) {
      for (std::size_t c = 0; c < sizes[2]; ++c) {
        const double* from = x.data() + a * steps[0] + b * steps[1] + c * steps[2];
        for (std::size_t d = 0; d < sizes[3]; ++d) *to++ = from[d * steps[3]];
      }
    }
  }
  return y;
}

}  // namespace

Four merged_heads(const Four& x) {
  return exchange_heads_and_length(x).reshaped<4>({x.size(0), 1, x.size(2), x.size(1) * x.size(3)});
}

Four divided_heads(const Four& x, std::size_t heads) {
  return exchange_heads_and_length(x.reshaped<4>({x.size(0), x.size(2), heads, x.size(3) / heads}));
}

Four viewed_as_heads(const Four& x) { return merged_heads(x).reshaped<4>(x.sizes()); }

Four viewed_as_merged(const Four& x) {
  return x.reshaped<4>({x.size(0), 1, x.size(2), x.size(1) * x.size(3)});
}

Four dealt_in_turn(const Four& x) {
  // (B,L,H*D) read as (B,L,D,H), then the head axis moved in front
  const Four wide = merged_heads(x).reshaped<4>({x.size(0), x.size(2), x.size(3), x.size(1)});
  return permuted(wide, {0, 3, 1, 2});
}

Four merged_in_turn(const Four& x) {
  return permuted(x, {0, 2, 3, 1}).reshaped<4>({x.size(0), 1, x.size(2), x.size(1) * x.size(3)});
}

Four exchange_last_axes(const Four& x) { return permuted(x, {0, 1, 3, 2}); }

Four exchange_batch_and_length(const Four& x) { return permuted(x, {2, 1, 0, 3}); }

Four mean_over_heads(const Four& x) {
  const std::size_t B = x.size(0), H = x.size(1), rest = x.size(2) * x.size(3);
  auto y = Four::make({B, 1, x.size(2), x.size(3)});
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t h = 0; h < H; ++h) {
      for (std::size_t n = 0; n < rest; ++n)
        y.data()[b * rest + n] += x.data()[(b * H + h) * rest + n];
    }
  }
  for (double& mean : y.elements()) mean /= static_cast<double>(H);
  return y;
}

Four picked_heads(const Four& x, const std::vector<std::size_t>& heads) {
  const std::size_t B = x.size(0), G = x.size(1), rest = x.size(2) * x.size(3);
  auto y = Four::make({B, heads.size(), x.size(2), x.size(3)});
  double* to = y.data();
  for (std::size_t b = 0; b < B; ++b) {
    for (const std::size_t head : heads)
      to = std::copy_n(x.data() + (b * G + head) * rest, rest, to);
  }
  return y;
}

}  // namespace qkv
