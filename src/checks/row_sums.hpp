// Row sums: what the weights of a query that sees a key may sum to, with sinks and dropout.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "logits.hpp"
#include "qkv/checks/check.hpp"
#include "rounding.hpp"

namespace qkv::checks {

struct SumRange {
  double least = 1, greatest = 1;
  /// How far outside a sum lies, NaN for NaN.
  double off(double sum) const {
    if (sum < least) return least - sum;
    return sum > greatest ? sum - greatest : sum - sum;
  }
};

/// True where the weights are those after dropout: attn of `check`, whose file holds what went on.
template <class T>
bool after_dropout(const Evidence<T>& evidence) {
  return !evidence.own && evidence.settings.dropout.has_value() && *evidence.settings.dropout > 0;
}

/// 1/(1-p), which kept weights are multiplied by; 1 without dropout.
template <class T>
double kept_factor(const Evidence<T>& evidence) {
  return after_dropout(evidence) ? 1 / (1 - *evidence.settings.dropout) : 1;
}

/// Without either the sum is 1. A sink of logit s takes its share: the sum is
/// 1/(1 + exp(s - lse)), with lse of the stage before attn, and lies in [0, 1] where that is not
/// known. Dropout with p keeps each weight with probability 1 - p and divides it by that: the sum
/// lies in [0, 1/(1-p)].
template <class T>
class RowSums {
 public:
  explicit RowSums(const Evidence<T>& evidence);

  SumRange of(std::size_t b, std::size_t h, std::size_t i);
  bool is_one() const { return sinks_ == nullptr && factor_ == 1; }
  /// "1", "the share that the sink leaves", "1 on average after dropout"
  std::string words() const;

 private:
  const Tensor<T, 1>* sinks_ = nullptr;
  double factor_ = 1;
  std::optional<Logits<T>> logits_ = {};
  Rounding rounding_ = {};
  std::vector<double> row_ = {};
};

}  // namespace qkv::checks
