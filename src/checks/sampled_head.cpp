// Sampled head: choosing the part, and the error of each logarithm in it.
#include "sampled_head.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "logits.hpp"

namespace qkv::checks {

namespace {

/// Length of one row of q or k.
template <class T>
double length(std::span<const T> row) {
  double sum = 0;
  for (const T value : row) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

/// Bounds sum_d |q_d*k_d| * scale for every key of a query, by the lengths of q and k.
template <class T>
class ProductSize {
 public:
  ProductSize(const Evidence<T>& evidence, std::size_t b, std::size_t h)
      : evidence_(evidence), b_(b), h_(h) {
    const auto scale = scale_of(evidence);
    const auto &q = evidence.q, &k = evidence.k, &attn = evidence.attn;
    if (!scale || q.empty() || k.empty()) return;
    if (q.size(2) != attn.size(2) || k.size(2) != attn.size(3)) return;  // k without its cache
    const std::size_t g = h / (attn.size(1) / k.size(1));
    double longest = 0;
    for (std::size_t j = 0; j < k.size(2); ++j) longest = std::max(longest, length(k.row(b, g, j)));
    factor_ = std::abs(*scale) * longest;
  }

  /// For query i, whose weights lie between least and greatest. Without q and k the range of the
  /// scores is all there is to go by: sqrt(D) times that, as for vectors of no common direction.
  double of(std::size_t i, double least, double greatest) const {
    if (factor_ >= 0) return factor_ * length(evidence_.q.row(b_, h_, i));
    return std::sqrt(static_cast<double>(evidence_.sizes.D)) * std::log(greatest / least);
  }

 private:
  const Evidence<T>& evidence_;
  std::size_t b_, h_;
  double factor_ = -1;
};

/// Greatest error of log a, apart from what is constant along the row and falls out.
///
///   storing a                                                unit + tiny/a, as a part of a
///   exp to 2 ulp, a product                                  4 * unit
///   x - m, and the stages scores and scaled as stored        unit * (|x - m| + 2*|x|)
///   the product q_i*k_j, D terms in any order                inner * (D + 2) * size
///
/// where `size` bounds |x| and the sum of |q_d*k_d|, scaled, and |x - m| is at most twice that.
/// The rotation of q and k changes no lengths.
double log_error(double weight, double size, std::size_t D, const Rounding& rounding) {
  const double stored = rounding.unit + rounding.tiny / weight;
  return -std::log1p(-stored) + rounding.unit * (4 + 4 * size) +
         rounding.inner * static_cast<double>(D + 2) * size;
}

/// A weight that lost all but its last four bits to rounding tells nothing of its score.
bool has_logarithm(double weight, const Rounding& rounding) {
  return std::isfinite(weight) && weight > 0 && rounding.unit + rounding.tiny / weight <= 1.0 / 16;
}

/// Rows and columns of a large part in which all is usable. Rows are taken by how much of them is,
/// and each drops the columns that it cannot use; the part with the highest possible rank is kept.
/// Of a causal triangle that leaves the square below the middle of its diagonal.
std::pair<Indices, Indices> usable_part(const Tensor<double, 2>& usable) {
  const std::size_t rows = usable.size(0), columns = usable.size(1);
  std::vector<double> count(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    count[i] = std::accumulate(usable.row(i).begin(), usable.row(i).end(), 0.0);
  }
  Indices order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return count[a] > count[b]; });

  // lasts[j] is how many rows can be taken before column j is dropped.
  Indices lasts(columns, 0), dropped(rows + 1, 0);
  for (std::size_t j = 0; j < columns; ++j) {
    while (lasts[j] < rows && usable(order[lasts[j]], j) != 0) ++lasts[j];
    ++dropped[lasts[j]];
  }
  std::size_t left = columns, best = 0, best_rank = 0;
  for (std::size_t taken = 1; taken <= rows; ++taken) {
    left -= dropped[taken - 1];
    const std::size_t rank = std::min(taken, left == 0 ? 0 : left - 1);
    if (rank > best_rank) {
      best_rank = rank;
      best = taken;
    }
  }
  Indices kept_rows(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(best)), kept_columns;
  std::ranges::sort(kept_rows);
  for (std::size_t j = 0; j < columns && best > 0; ++j) {
    if (lasts[j] >= best) kept_columns.push_back(j);
  }
  return {kept_rows, kept_columns};
}

}  // namespace

Indices evenly(std::size_t all, std::size_t some) {
  Indices indices(std::min(all, some));
  for (std::size_t n = 0; n < indices.size(); ++n) indices[n] = n * all / indices.size();
  return indices;
}

template <class T>
SampledHead sample_head(const Evidence<T>& evidence, std::size_t b, std::size_t h,
                        const Indices& queries, const Indices& keys, const Rounding& rounding) {
  auto weights = Tensor<double, 2>::make({queries.size(), keys.size()});
  auto usable = Tensor<double, 2>::make({queries.size(), keys.size()});
  for (std::size_t n = 0; n < queries.size(); ++n) {
    for (std::size_t m = 0; m < keys.size(); ++m) {
      const bool hidden =
          evidence.visibility != nullptr && evidence.visibility->hidden(b, h, queries[n], keys[m]);
      weights(n, m) = static_cast<double>(evidence.attn(b, h, queries[n], keys[m]));
      usable(n, m) = !hidden && has_logarithm(weights(n, m), rounding) ? 1 : 0;
    }
  }
  const auto [rows, columns] = usable_part(usable);

  const ProductSize<T> size(evidence, b, h);
  SampledHead head{Tensor<double, 2>::make({rows.size(), columns.size()}),
                   Tensor<double, 2>::make({rows.size(), columns.size()})};
  for (std::size_t n = 0; n < rows.size(); ++n) {
    double least = std::numeric_limits<double>::infinity(), greatest = 0;
    for (std::size_t m = 0; m < columns.size(); ++m) {
      head.attn(n, m) = weights(rows[n], columns[m]);
      least = std::min(least, head.attn(n, m));
      greatest = std::max(greatest, head.attn(n, m));
    }
    const double row_size = size.of(queries[rows[n]], least, greatest);
    for (std::size_t m = 0; m < columns.size(); ++m) {
      head.log_errors(n, m) = log_error(head.attn(n, m), row_size, evidence.sizes.D, rounding);
    }
  }
  return head;
}

template SampledHead sample_head(const Evidence<float>&, std::size_t, std::size_t, const Indices&,
                                 const Indices&, const Rounding&);
template SampledHead sample_head(const Evidence<double>&, std::size_t, std::size_t, const Indices&,
                                 const Indices&, const Rounding&);

}  // namespace qkv::checks
