// The two products of attention for few queries: channels in the lanes, k and v read once, in
// order, and fetched ahead.
#pragma once

#include "kernels/simd/transpose.hpp"

namespace qkv {
namespace {

/// Brings rows of memory to the cache, a few lines at each step of other work, in the order in
/// which they lie: the work goes on while they come.
struct Fetcher {
  const float* at = nullptr;
  std::ptrdiff_t left = 0;   ///< numbers to the end of the row
  std::ptrdiff_t width = 0;  ///< of a row; of all where none lies between them
  std::ptrdiff_t skip = 0;   ///< numbers from the end of a row to the next
  std::ptrdiff_t each = 0;   ///< numbers at each step

  /// `rows` rows, `row` apart, in `steps` steps.
  Fetcher(const float* from, std::ptrdiff_t row, int rows, std::ptrdiff_t columns,
          std::ptrdiff_t steps)
      : at(from), skip(row - columns) {
    width = skip == 0 ? rows * columns : columns;
    left = width;
    const std::ptrdiff_t all = rows * columns;
    each = steps > 0 ? ((all + steps - 1) / steps + 15) / 16 * 16 : 0;
  }
  void step() {
    const std::ptrdiff_t here = each < left ? each : left;
    for (std::ptrdiff_t n = 0; n < here; n += 16) __builtin_prefetch(at + n, 0, 2);
    at += here;
    left -= here;
    if (left == 0) {
      at += skip;
      left = width;
    }
  }
};

/// Lane n is the sum of sums[n]: each round adds two halves of each of two registers into one.
template <int Half = lanes / 2>
inline Vec sums_of(Vec (&sums)[lanes]) {
#pragma GCC unroll 8
  for (int n = 0; n < Half; ++n)
    sums[n] = low_halves(sums[n], sums[n + Half]) + high_halves(sums[n], sums[n + Half]);
  if constexpr (Half > 1) {
    return sums_of<Half / 2>(sums);
  } else {
    return sums[0];
  }
}

/// Lane n is q * k[n] for `lanes` keys. Where `Fetch`, as many rows from `ahead` are on their way
/// to the cache when it returns.
inline Vec score_group(const float* k, std::ptrdiff_t k_row, const float* q, std::ptrdiff_t D,
                       Fetcher& fetcher) {
  Vec sums[lanes];
#pragma GCC unroll 16
  for (int key = 0; key < lanes; ++key) sums[key] = Vec{};
  std::ptrdiff_t d = 0;
  for (; d + lanes <= D; d += lanes) {
    const Vec query = load(q + d);
    fetcher.step();
#pragma GCC unroll 16
    for (int key = 0; key < lanes; ++key) sums[key] += load(k + key * k_row + d) * query;
  }
  if (d < D) {
    const Vec query = load_first(q + d, D - d);
#pragma GCC unroll 16
    for (int key = 0; key < lanes; ++key)
      sums[key] += load_first(k + key * k_row + d, D - d) * query;
  }
  return sums_of(sums);
}

/// q * k for one key.
inline float score_one(const float* k, const float* q, std::ptrdiff_t D) {
  Vec sum{};
  std::ptrdiff_t d = 0;
  for (; d + lanes <= D; d += lanes) sum += load(k + d) * load(q + d);
  if (d < D) sum += load_first(k + d, D - d) * load_first(q + d, D - d);
  return sum_of(sum);
}

/// o[e] = o[e]*shrink + sum_key weights[key]*v[key][e] for Vecs*lanes channels.
template <int Vecs>
inline void value_group(const float* v, std::ptrdiff_t v_row, int keys, const float* weights,
                        float shrink, float* o, Fetcher& fetcher) {
  Vec sums[Vecs];
#pragma GCC unroll 8
  for (int n = 0; n < Vecs; ++n) sums[n] = Vec{};
  for (std::ptrdiff_t key = 0; key < keys; ++key) {
    const Vec weight = splat(weights[key]);
    fetcher.step();
#pragma GCC unroll 8
    for (int n = 0; n < Vecs; ++n) {
      sums[n] += load(v + key * v_row + n * lanes) * weight;
    }
  }
#pragma GCC unroll 8
  for (int n = 0; n < Vecs; ++n) store(o + n * lanes, load(o + n * lanes) * shrink + sums[n]);
}

/// The same for all channels of `keys` rows of v.
inline void value_rows(const float* v, std::ptrdiff_t v_row, int keys, const float* weights,
                       float shrink, std::ptrdiff_t Dv, float* o, Fetcher& fetcher) {
  std::ptrdiff_t e = 0;
  for (; e + 8 * lanes <= Dv; e += 8 * lanes) {
    value_group<8>(v + e, v_row, keys, weights, shrink, o + e, fetcher);
  }
  for (; e + lanes <= Dv; e += lanes) {
    value_group<1>(v + e, v_row, keys, weights, shrink, o + e, fetcher);
  }
  for (; e < Dv; ++e) {
    float sum = 0;
    for (std::ptrdiff_t key = 0; key < keys; ++key) sum += weights[key] * v[key * v_row + e];
    o[e] = o[e] * shrink + sum;
  }
}

}  // namespace
}  // namespace qkv
