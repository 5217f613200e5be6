// Rows of attn: which keys each query sees, and the worst of what was measured over them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "qkv/checks/check.hpp"

namespace qkv::checks {

/// A check that cannot be made, or that could not have failed.
inline CheckResult skipped(std::string stage, std::string why) {
  return CheckResult{.stage = std::move(stage), .status = Status::skip, .message = std::move(why)};
}

/// "(12 of 256 rows)"
std::string out_of(std::size_t some, std::size_t all, std::string_view what);

/// Why attn cannot be looked at, "" where it can.
template <class T>
std::string attn_missing(const Evidence<T>& evidence) {
  if (evidence.attn.empty()) return "needs attn";
  if (evidence.attn.size() == 0) return "attn has no elements: there is no key, or no query";
  return {};
}

/// visit(b, h, i, row) for each query.
template <class T, class Visit>
void for_each_row(const Tensor<T, 4>& tensor, Visit&& visit) {
  for (std::size_t b = 0; b < tensor.size(0); ++b) {
    for (std::size_t h = 0; h < tensor.size(1); ++h) {
      for (std::size_t i = 0; i < tensor.size(2); ++i) visit(b, h, i, tensor.row(b, h, i));
    }
  }
}

/// The keys that one query sees; all of them where nothing is known to be hidden.
template <class T>
class Sight {
 public:
  explicit Sight(const Evidence<T>& evidence)
      : visibility_(evidence.visibility != nullptr && evidence.visibility->any()
                        ? evidence.visibility
                        : nullptr) {}

  /// Looks from query i of head h over `keys` keys; returns how many it sees.
  std::size_t look(std::size_t b, std::size_t h, std::size_t i, std::size_t keys) {
    hidden_.assign(keys, 0);
    seen_ = keys;
    if (visibility_ == nullptr) return seen_;
    for (std::size_t j = 0; j < keys; ++j) {
      if (visibility_->hidden(b, h, i, j)) {
        hidden_[j] = 1;
        --seen_;
      }
    }
    return seen_;
  }
  bool hidden(std::size_t j) const { return hidden_[j] != 0; }
  std::size_t seen() const { return seen_; }
  /// True where some rule hides or adds at all.
  bool ruled() const { return visibility_ != nullptr; }

 private:
  const Visibility<T>* visibility_;
  std::vector<std::uint8_t> hidden_;
  std::size_t seen_ = 0;
};

/// Counts measurements that are off and keeps the worst; a NaN is worse than any number and stays.
class Worst {
 public:
  /// True where this is the worst so far. Off is whatever is not within the limit.
  bool see(double measure, double limit, std::size_t b, std::size_t h, std::size_t i,
           std::size_t j = 0) {
    ++judged_;
    if (!(measure <= limit)) ++off_;
    const bool worse = judged_ == 1 || (!std::isnan(measure_) && !(measure <= measure_));
    if (worse) {
      measure_ = measure;
      b_ = b, h_ = h, i_ = i, j_ = j;
    }
    return worse;
  }
  /// For a row of measurements of which none is off or the worst, as nearly all rows are: counts
  /// them and returns true. Else counts none, and see() has to look at each.
  ///
  /// in   excess(j, bound)  true where measurement j may exceed the bound, or is NaN
  template <class Excess>
  bool pass_row(std::size_t count, double limit, Excess excess) {
    if (judged_ == 0 || std::isnan(measure_)) return false;
    const double bound = std::min(measure_, limit);
    unsigned any = 0;
    for (std::size_t j = 0; j < count; ++j) any |= excess(j, bound) ? 1U : 0U;
    if (any != 0) return false;
    judged_ += count;
    return true;
  }
  std::size_t judged() const { return judged_; }
  std::size_t off() const { return off_; }
  double measure() const { return measure_; }
  template <class T>
  std::vector<std::size_t> row(const Evidence<T>& evidence) const {
    return evidence.at(b_, h_, i_);
  }
  template <class T>
  std::vector<std::size_t> element(const Evidence<T>& evidence) const {
    return evidence.at(b_, h_, i_, j_);
  }
  std::size_t b() const { return b_; }
  std::size_t h() const { return h_; }
  std::size_t i() const { return i_; }
  std::size_t j() const { return j_; }

 private:
  std::size_t judged_ = 0, off_ = 0;
  double measure_ = 0;
  std::size_t b_ = 0, h_ = 0, i_ = 0, j_ = 0;
};

/// Sum in double with the lost digits carried along (Neumaier 1974), so that the sum of a row adds
/// no error of its own to what is judged.
class CarefulSum {
 public:
  void add(double term) {
    const double next = sum_ + term;
    lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }
  double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

/// The weight of each key of S in a row that sees none: 0, NaN or 1/S.
double empty_weight(EmptyRows empty_rows, std::size_t S);

/// What such a row is called in a message: "0", "NaN", "1/S each".
std::string empty_weight_text(EmptyRows empty_rows);

}  // namespace qkv::checks
