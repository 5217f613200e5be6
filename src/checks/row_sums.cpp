// Row sums: what the weights of a query that sees a key may sum to, with sinks and dropout.
#include "row_sums.hpp"

#include <algorithm>
#include <cmath>

namespace qkv::checks {

template <class T>
RowSums<T>::RowSums(const Evidence<T>& evidence)
    : factor_(kept_factor(evidence)), rounding_(rounding_of(evidence)) {
  if (evidence.sinks.empty()) return;
  sinks_ = &evidence.sinks;
  logits_.emplace(evidence);
  if (!logits_->missing().empty()) logits_.reset();
}

template <class T>
SumRange RowSums<T>::of(std::size_t b, std::size_t h, std::size_t i) {
  if (factor_ != 1) return {0, factor_};
  if (sinks_ == nullptr) return {};
  if (!logits_) return {0, 1};
  logits_->row(b, h, i, row_);
  const double m = *std::max_element(row_.begin(), row_.end());
  if (!std::isfinite(m)) return {0, 1};
  double sum = 0;
  for (const double x : row_) sum += std::exp(x - m);
  const double lse = m + std::log(sum), sink = static_cast<double>((*sinks_)(h));
  // d/dx of 1/(1 + e^-x) is at most 1/4; x = lse - s is off by the rounding of its logits.
  const double spread = (rounding_.unit + 0x1p-53) * (std::abs(m) + std::abs(sink) + 8) / 4;
  const double share = 1 / (1 + std::exp(sink - lse));
  return {share - spread, share + spread};
}

template <class T>
std::string RowSums<T>::words() const {
  if (factor_ != 1) return "1 on average after dropout";
  if (sinks_ == nullptr) return "1";
  return logits_ ? "the share that the sink leaves" : "at most 1 beside a sink";
}

template class RowSums<float>;
template class RowSums<double>;

}  // namespace qkv::checks
