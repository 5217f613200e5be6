// The two products of attention for few queries: channels in the lanes, k and v read once, in
// order, and fetched ahead.
#pragma once

#include "kernels/simd/transpose.hpp"

namespace qkv {
namespace {

/// Rows of memory that are to be read next.
struct Ahead {
  const float* from = nullptr;
  std::ptrdiff_t row = 0;
};

/// The first `count` numbers, zeros behind them.
inline Vec load_first(const float* from, std::ptrdiff_t count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1U), from);
#else
  Vec x{};
  for (std::ptrdiff_t n = 0; n < count; ++n) x[n] = from[n];
  return x;
#endif
}

/// Lane n is the sum of sums[n]: each round adds two halves of each of two registers into one.
inline Vec sums_of(Vec (&sums)[lanes]) {
#pragma GCC unroll 4
  for (int half = lanes / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
    for (int n = 0; n < half; ++n) {
      sums[n] = low_halves(sums[n], sums[n + half]) + high_halves(sums[n], sums[n + half]);
    }
  }
  return sums[0];
}

/// Lane n is q * k[n] for `lanes` keys. Where `Fetch`, as many rows from `ahead` are on their way
/// to the cache when it returns.
template <bool Fetch>
inline Vec score_group(const float* k, std::ptrdiff_t k_row, const float* q, std::ptrdiff_t D,
                       Ahead ahead) {
  Vec sums[lanes];
#pragma GCC unroll 16
  for (int key = 0; key < lanes; ++key) sums[key] = Vec{};
  std::ptrdiff_t d = 0;
  for (; d + lanes <= D; d += lanes) {
    const Vec query = load(q + d);
#pragma GCC unroll 16
    for (int key = 0; key < lanes; ++key) {
      sums[key] += load(k + key * k_row + d) * query;
      if (Fetch) __builtin_prefetch(ahead.from + key * ahead.row + d);
    }
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
template <int Vecs, bool Fetch>
inline void value_group(const float* v, std::ptrdiff_t v_row, int keys, const float* weights,
                        float shrink, float* o, Ahead ahead) {
  Vec sums[Vecs];
#pragma GCC unroll 8
  for (int n = 0; n < Vecs; ++n) sums[n] = Vec{};
  for (std::ptrdiff_t key = 0; key < keys; ++key) {
    const Vec weight = splat(weights[key]);
#pragma GCC unroll 8
    for (int n = 0; n < Vecs; ++n) {
      sums[n] += load(v + key * v_row + n * lanes) * weight;
      if (Fetch) __builtin_prefetch(ahead.from + key * ahead.row + n * lanes);
    }
  }
#pragma GCC unroll 8
  for (int n = 0; n < Vecs; ++n) store(o + n * lanes, load(o + n * lanes) * shrink + sums[n]);
}

/// The same for all channels of `keys` rows of v.
template <bool Fetch>
inline void value_rows(const float* v, std::ptrdiff_t v_row, int keys, const float* weights,
                       float shrink, std::ptrdiff_t Dv, float* o, Ahead ahead) {
  std::ptrdiff_t e = 0;
  for (; e + 8 * lanes <= Dv; e += 8 * lanes) {
    value_group<8, Fetch>(v + e, v_row, keys, weights, shrink, o + e, {ahead.from + e, ahead.row});
  }
  for (; e + lanes <= Dv; e += lanes) {
    value_group<1, Fetch>(v + e, v_row, keys, weights, shrink, o + e, {ahead.from + e, ahead.row});
  }
  for (; e < Dv; ++e) {
    float sum = 0;
    for (std::ptrdiff_t key = 0; key < keys; ++key) sum += weights[key] * v[key * v_row + e];
    o[e] = o[e] * shrink + sum;
  }
}

}  // namespace
}  // namespace qkv
