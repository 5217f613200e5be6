// Gradient: its size, and clipping.
#include "qkv/grad/gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qkv {

namespace {

/// Which gradients an optimiser would see.
template <class T>
std::vector<Gradient<T>*> trained(std::vector<Gradient<T>>& gradients) {
  for (const GradientOf kind : {GradientOf::parameter, GradientOf::input}) {
    std::vector<Gradient<T>*> found;
    for (Gradient<T>& gradient : gradients) {
      if (gradient.kind == kind) found.push_back(&gradient);
    }
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

template <class T>
GradientSize size_of(const Gradient<T>& gradient) {
  GradientSize size;
  size.count = gradient.values.size();
  for (const T value : gradient.values.elements()) {
    if (std::isnan(value)) {
      ++size.nan;
    } else if (std::isinf(value)) {
      ++size.inf;
    } else {
      size.max_abs = std::max(size.max_abs, std::abs(static_cast<double>(value)));
    }
  }
  if (size.max_abs == 0) return size;
  double squares = 0;
  for (const T value : gradient.values.elements()) {
    if (!std::isfinite(value)) continue;
    const double share = static_cast<double>(value) / size.max_abs;
    squares += share * share;
  }
  size.norm = size.max_abs * std::sqrt(squares);
  return size;
}

template <class T>
Clipped clip_gradients(std::vector<Gradient<T>>& gradients, double max_norm) {
  Clipped clipped;
  const std::vector<Gradient<T>*> all = trained(gradients);
  for (const Gradient<T>* gradient : all) {
    const GradientSize size = size_of(*gradient);
    clipped.of.push_back(gradient->of);
    clipped.norm = std::hypot(clipped.norm, size.norm);
    if (size.inf > 0) clipped.norm = std::hypot(clipped.norm, HUGE_VAL);
    if (size.nan > 0) clipped.norm = std::numeric_limits<double>::quiet_NaN();
  }
  if (!std::isfinite(clipped.norm)) return clipped;
  clipped.factor = std::min(1.0, max_norm / (clipped.norm + 1e-6));
  if (clipped.factor == 1) return clipped;
  for (Gradient<T>* gradient : all) {
    gradient->values = gradient->values.clone();
    for (T& value : gradient->values.elements())
      value = static_cast<T>(static_cast<double>(value) * clipped.factor);
  }
  return clipped;
}

template GradientSize size_of(const Gradient<float>&);
template GradientSize size_of(const Gradient<double>&);
template Clipped clip_gradients(std::vector<Gradient<float>>&, double);
template Clipped clip_gradients(std::vector<Gradient<double>>&, double);

}  // namespace qkv
