// Stage attn: softmax over the keys.
#include "qkv/attention/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "qkv/base/parallel.hpp"
#include "qkv/tensor/portable.hpp"

namespace qkv {

namespace {

/// The weight of each key in a row that sees none.
template <class T>
T empty_weight(EmptyRows empty_rows, std::size_t S) {
  switch (empty_rows) {
    case EmptyRows::nan:
      return std::numeric_limits<T>::quiet_NaN();
    case EmptyRows::uniform:
      return static_cast<T>(1.0 / static_cast<double>(S));
    case EmptyRows::zero:
      break;
  }
  return T(0);
}

/// Greatest element, -Inf for none. A NaN is forgotten here, and comes back through the sum.
template <class T>
T greatest(std::span<const T> row) {
  T m = -std::numeric_limits<T>::infinity();
  for (const T x : row) m = x > m ? x : m;
  return m;
}

template <class T>
bool all_hidden(std::span<const T> row) {
  return std::ranges::all_of(row, [](T x) { return x == -std::numeric_limits<T>::infinity(); });
}

/// What a row of nothing but -Inf is: one that sees no key, or one whose scores have overflowed,
/// which is NaN; settle_empty_rows() tells those that see no key.
enum class AllInfinite { hidden, overflowed };

template <class T, class Exponential>
void softmax_row(std::span<const T> x, std::span<T> attn, EmptyRows empty_rows,
                 std::optional<T> sink, AllInfinite all, Exponential exponential) {
  if (all_hidden(x) && (all == AllInfinite::hidden || sink)) {
    std::ranges::fill(attn, empty_weight<T>(empty_rows, x.size()));
    return;
  }
  const T m = sink ? std::max(greatest(x), *sink) : greatest(x);
  double sum = sink ? static_cast<double>(exponential(*sink - m)) : 0;
  for (std::size_t s = 0; s < x.size(); ++s) {
    attn[s] = exponential(x[s] - m);
    sum += static_cast<double>(attn[s]);
  }
  for (T& weight : attn) weight = static_cast<T>(static_cast<double>(weight) / sum);
}

template <class T, class Exponential>
Tensor<T, 4> softmax_by(Exponential exponential, const Tensor<T, 4>& x, EmptyRows empty_rows,
                        const Tensor<T, 1>& sinks, std::size_t first_head, AllInfinite all,
                        std::size_t threads) {
  auto attn = Tensor<T, 4>::make(x.sizes());
  const std::size_t heads = x.size(1), length = x.size(2);
  const std::size_t rows = x.size(0) * heads * length;
  parallel_blocks(threads, rows, [&](std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) {
      const std::size_t b = n / length / heads, h = n / length % heads, l = n % length;
      const auto sink = sinks.empty() ? std::nullopt : std::optional<T>(sinks(first_head + h));
      softmax_row(x.row(b, h, l), attn.row(b, h, l), empty_rows, sink, all, exponential);
    }
  });
  return attn;
}

}  // namespace

template <class T>
Tensor<T, 4> softmax(const Tensor<T, 4>& x, EmptyRows empty_rows, const Tensor<T, 1>& sinks,
                     std::size_t first_head, Arithmetic arithmetic, std::size_t threads) {
  if (arithmetic == Arithmetic::native)
    return softmax_by([](T t) { return std::exp(t); }, x, empty_rows, sinks, first_head,
                      AllInfinite::hidden, threads);
  const auto portable = [](T t) { return static_cast<T>(portable_exp(static_cast<double>(t))); };
  return softmax_by(portable, x, empty_rows, sinks, first_head, AllInfinite::overflowed, threads);
}

template <class T>
void settle_empty_rows(Tensor<T, 4>& attn, const Visibility<T>& visibility, const Origin& origin) {
  if (!visibility.any()) return;
  for (std::size_t b = 0; b < attn.size(0); ++b) {
    for (std::size_t h = 0; h < attn.size(1); ++h) {
      for (std::size_t l = 0; l < attn.size(2); ++l) {
        if (!visibility.empty_row(origin.b + b, origin.h + h, origin.i + l)) continue;
        const auto row = attn.row(b, h, l);
        std::ranges::fill(row, empty_weight<T>(visibility.empty_rows, row.size()));
      }
    }
  }
}

template <class T>
Tensor<T, 3> log_sum_exp(const Tensor<T, 4>& x) {
  auto lse = Tensor<T, 3>::make({x.size(0), x.size(1), x.size(2)});
  for (std::size_t b = 0; b < x.size(0); ++b) {
    for (std::size_t h = 0; h < x.size(1); ++h) {
      for (std::size_t l = 0; l < x.size(2); ++l) {
        const auto row = x.row(b, h, l);
        if (all_hidden(row)) {
          lse(b, h, l) = -std::numeric_limits<T>::infinity();
          continue;
        }
        const T m = greatest(row);
        double sum = 0;
        for (const T value : row)
          sum += std::exp(static_cast<double>(value) - static_cast<double>(m));
        lse(b, h, l) = static_cast<T>(static_cast<double>(m) + std::log(sum));
      }
    }
  }
  return lse;
}

template Tensor<float, 4> softmax(const Tensor<float, 4>&, EmptyRows, const Tensor<float, 1>&,
                                  std::size_t, Arithmetic, std::size_t);
template Tensor<double, 4> softmax(const Tensor<double, 4>&, EmptyRows, const Tensor<double, 1>&,
                                   std::size_t, Arithmetic, std::size_t);
template void settle_empty_rows(Tensor<float, 4>&, const Visibility<float>&, const Origin&);
template void settle_empty_rows(Tensor<double, 4>&, const Visibility<double>&, const Origin&);
template Tensor<float, 3> log_sum_exp(const Tensor<float, 4>&);
template Tensor<double, 3> log_sum_exp(const Tensor<double, 4>&);

}  // namespace qkv
