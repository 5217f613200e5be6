// What the softmax makes of the rounding errors of its logits.
#include "diagnose/softmax_variance.hpp"

#include <algorithm>
#include <cmath>

#include "diagnose/rounding.hpp"

namespace qkv {

namespace {

/// What an error of this relative variance does to a weight: in proportion while it is small;
/// logits that are off by ones multiply the weight, up to 1.
double weight_variance(double weight, double relative, bool hidden) {
  if (!std::isfinite(weight) || hidden) return 0;
  constexpr double small =
      0.01;  // standard deviation 0.1: e^0.8 is 2.2, twice the first-order bound
  if (relative < small) return weight * weight * relative;
  const double greatest =
      std::min(1.0, std::exp(std::log(weight) + rounding_deviations * std::sqrt(relative)));
  return greatest * greatest / (rounding_deviations * rounding_deviations);
}

}  // namespace

Tensor<double, 4> softmax_variance(const Tensor<double, 4>& logits,
                                   const Tensor<double, 4>& variance, const Tensor<double, 4>& attn,
                                   double own) {
  auto passed = Tensor<double, 4>::make(attn.sizes());
  for (std::size_t b = 0; b < attn.size(0); ++b) {
    for (std::size_t h = 0; h < attn.size(1); ++h) {
      for (std::size_t l = 0; l < attn.size(2); ++l) {
        const auto a = attn.row(b, h, l), dx = variance.row(b, h, l), x = logits.row(b, h, l);
        const auto to = passed.row(b, h, l);
        double mean = 0;
        for (std::size_t s = 0; s < a.size(); ++s) mean += std::isfinite(a[s]) ? a[s] * dx[s] : 0;
        for (std::size_t s = 0; s < a.size(); ++s)
          to[s] = weight_variance(a[s], dx[s] + mean + own, x[s] == -HUGE_VAL);
      }
    }
  }
  return passed;
}

}  // namespace qkv
