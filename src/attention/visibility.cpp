// Visibility: which keys a query may see, rule by rule.
#include "qkv/attention/visibility.hpp"

#include <cmath>
#include <limits>

namespace qkv {

namespace {

/// The element of a tensor whose axes are 1 or full.
template <class U>
const U& broadcast(const Tensor<U, 4>& tensor, std::size_t b, std::size_t h, std::size_t i,
                   std::size_t j) {
  return tensor(tensor.size(0) == 1 ? 0 : b, tensor.size(1) == 1 ? 0 : h,
                tensor.size(2) == 1 ? 0 : i, tensor.size(3) == 1 ? 0 : j);
}

/// Key j lies after the query's own position i + offset.
bool hidden_by_causal(std::size_t i, std::size_t j, long long offset) {
  return static_cast<long long>(j) > static_cast<long long>(i) + offset;
}

/// Key j lies more than `left` before or `right` after the query's own position i + offset.
bool hidden_by_window(std::size_t i, std::size_t j, long long offset, const Window& window) {
  const long long own = static_cast<long long>(i) + offset, key = static_cast<long long>(j);
  return (window.left >= 0 && key < own - window.left) ||
         (window.right >= 0 && key > own + window.right);
}

}  // namespace

template <class T>
bool Visibility<T>::hidden(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const {
  if (causal && hidden_by_causal(i, j, offset[b])) return true;
  if (window && hidden_by_window(i, j, window_offset[b], *window)) return true;
  if (!lengths.empty() && j >= lengths[b]) return true;
  if (!padded.empty() && padded(b, j) != 0) return true;
  if (!hidden_by_mask.empty() && broadcast(hidden_by_mask, b, h, i, j) != 0) return true;
  return bias(b, h, i, j) == -std::numeric_limits<T>::infinity();
}

template <class T>
T Visibility<T>::bias(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const {
  const T mask = added.empty() ? T(0) : broadcast(added, b, h, i, j);
  if (slopes.empty()) return mask;
  const double distance = std::abs(
      static_cast<double>(static_cast<long long>(i) + slope_offset[b]) - static_cast<double>(j));
  return static_cast<T>(static_cast<double>(mask) - static_cast<double>(slopes[h]) * distance);
}

template <class T>
bool Visibility<T>::empty_row(std::size_t b, std::size_t h, std::size_t i) const {
  if (!any()) return false;
  for (std::size_t j = 0; j < S; ++j) {
    if (!hidden(b, h, i, j)) return false;
  }
  return true;
}

template struct Visibility<float>;
template struct Visibility<double>;

}  // namespace qkv
