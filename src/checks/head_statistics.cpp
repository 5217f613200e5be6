// Head statistics: where the weights of each head go.
#include "qkv/checks/head_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "qkv/base/parallel.hpp"
#include "qkv/tensor/elementary.hpp"
#include "rows.hpp"

namespace qkv {

namespace {

class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  std::optional<double> value() const {
    if (count_ == 0) return std::nullopt;
    return sum_ / static_cast<double>(count_);
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

/// True where query i stands at key i + offset: x attends to itself, or a rule says so.
template <class T>
bool positions_known(const Evidence<T>& evidence) {
  if (evidence.sizes.has_context) return false;
  const auto* rules = evidence.visibility;
  if (rules != nullptr && (rules->causal || rules->window || !rules->slopes.empty())) return true;
  return evidence.attn.size(3) == evidence.attn.size(2) + evidence.sizes.P;
}

template <class T>
class OneHead {
 public:
  OneHead(const Evidence<T>& evidence, std::size_t head)
      : evidence_(evidence), sight_(evidence), head_(head), known_(positions_known(evidence)) {}

  HeadStatistics measure() {
    const auto& attn = evidence_.attn;
    for (std::size_t b = 0; b < attn.size(0); ++b) {
      for (std::size_t i = 0; i < attn.size(2); ++i) see(b, i, attn.row(b, head_, i));
    }
    return {.head = head_,
            .entropy = entropy_.value(),
            .entropy_share = share_.value(),
            .max = max_.value(),
            .self = self_.value(),
            .previous = previous_.value(),
            .first = first_.value()};
  }

 private:
  void see(std::size_t b, std::size_t i, std::span<const T> row) {
    const std::size_t seen = sight_.look(b, head_, i, row.size());
    if (seen == 0) return;
    double greatest = 0;
    for (const T element : row) {
      const auto weight = static_cast<double>(element);
      if (!(weight <= greatest) && !std::isnan(greatest)) greatest = weight;  // a NaN stays
    }
    if (greatest == 0) return;  // nothing was seen, for all that is known
    const double entropy = -sum_of_w_log_w(row);
    entropy_.add(entropy);
    if (seen > 1) share_.add(entropy / std::log(static_cast<double>(seen)));
    max_.add(greatest);
    first_.add(static_cast<double>(row[0]));
    if (!known_) return;
    const long long own = static_cast<long long>(i) + offset(b);
    const auto keys = static_cast<long long>(row.size());
    if (own >= 0 && own < keys) self_.add(static_cast<double>(row[static_cast<std::size_t>(own)]));
    if (own >= 1 && own <= keys)
      previous_.add(static_cast<double>(row[static_cast<std::size_t>(own - 1)]));
  }

  long long offset(std::size_t b) const {
    const auto* rules = evidence_.visibility;
    if (rules == nullptr || rules->offset.empty()) return static_cast<long long>(evidence_.sizes.P);
    return rules->offset[b];
  }

  const Evidence<T>& evidence_;
  checks::Sight<T> sight_;
  std::size_t head_;
  bool known_;
  Mean entropy_, share_, max_, self_, previous_, first_;
};

}  // namespace

template <class T>
std::vector<HeadStatistics> head_statistics(const Evidence<T>& evidence, std::size_t threads) {
  const auto& attn = evidence.attn;
  if (attn.empty() || attn.size() == 0 || attn.size(3) < 2) return {};
  std::vector<HeadStatistics> heads(attn.size(1));
  parallel(threads, heads.size(), [&](std::size_t head, std::size_t) {
    heads[head] = OneHead<T>(evidence, head).measure();
  });
  return heads;
}

template std::vector<HeadStatistics> head_statistics(const Evidence<float>&, std::size_t);
template std::vector<HeadStatistics> head_statistics(const Evidence<double>&, std::size_t);

}  // namespace qkv
