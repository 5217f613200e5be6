// The two products of attention for few queries: channels in the lanes, k and v read once, in
// order, and fetched ahead.
#pragma once

#include "kernels/simd/fetch.hpp"
#include "kernels/simd/transpose.hpp"

namespace qkv {
namespace {

/// How many registers are read from one step of fetching to the next, and how many lines a step
/// stands for. With one row the work waits for memory: short steps, so that lines are asked for one
/// by one, and twice where a step stands for one, because some are refused. With more rows the
/// multiply-adds leave room for fewer.
struct OneRow {
  static constexpr int registers = lanes == 4 ? 2 : 1, lines = lanes == 16 ? 2 : 1;
};
struct MoreRows {
  static constexpr int registers = lanes == 16 ? 2 : 4, lines = 1;
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

/// sums[key] += q * k[key] over Vecs*lanes channels, key by key: memory is read in the order in
/// which it lies.
template <class Pace, int Vecs>
inline void add_scores(const float* k, std::ptrdiff_t k_row, const float* q, Vec (&sums)[lanes],
                       Fetch& fetch) {
  Vec query[Vecs];
#pragma GCC unroll 8
  for (int n = 0; n < Vecs; ++n) query[n] = load(q + n * lanes);
#pragma GCC unroll 16
  for (int key = 0; key < lanes; ++key) {
#pragma GCC unroll 8
    for (int n = 0; n < Vecs; ++n) {
      if (n % Pace::registers == 0) fetch.step<Pace::lines>();
      sums[key] += load(k + n * lanes) * query[n];
    }
    k += k_row;
    // Or the compiler finds every address beforehand, and has nowhere to keep so many.
    asm("" : "+r"(k));
  }
}

/// Registers of a row that stay registers beside the sums.
constexpr int score_vecs = lanes == 16 ? 8 : 4;

/// Lane n is q * k[n] for `lanes` keys.
template <class Pace>
inline Vec score_group(const float* k, std::ptrdiff_t k_row, const float* q, std::ptrdiff_t D,
                       Fetch& fetch) {
  Vec sums[lanes];
#pragma GCC unroll 16
  for (int key = 0; key < lanes; ++key) sums[key] = Vec{};
  std::ptrdiff_t d = 0;
  for (; d + score_vecs * lanes <= D; d += score_vecs * lanes)
    add_scores<Pace, score_vecs>(k + d, k_row, q + d, sums, fetch);
  for (; d + 4 * lanes <= D; d += 4 * lanes) add_scores<Pace, 4>(k + d, k_row, q + d, sums, fetch);
  for (; d + lanes <= D; d += lanes) add_scores<Pace, 1>(k + d, k_row, q + d, sums, fetch);
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
template <class Pace, int Vecs>
inline void value_group(const float* v, std::ptrdiff_t v_row, int keys, const float* weights,
                        float shrink, float* o, Fetch& fetch) {
  Vec sums[Vecs];
#pragma GCC unroll 8
  for (int n = 0; n < Vecs; ++n) sums[n] = Vec{};
  for (std::ptrdiff_t key = 0; key < keys; ++key) {
    const Vec weight = splat(weights[key]);
#pragma GCC unroll 8
    for (int n = 0; n < Vecs; ++n) {
      if (n % Pace::registers == 0) fetch.step<Pace::lines>();
      sums[n] += load(v + key * v_row + n * lanes) * weight;
    }
  }
#pragma GCC unroll 8
  for (int n = 0; n < Vecs; ++n) store(o + n * lanes, load(o + n * lanes) * shrink + sums[n]);
}

/// The same for all channels of `keys` rows of v.
template <class Pace>
inline void value_rows(const float* v, std::ptrdiff_t v_row, int keys, const float* weights,
                       float shrink, std::ptrdiff_t Dv, float* o, Fetch& fetch) {
  std::ptrdiff_t e = 0;
  for (; e + 8 * lanes <= Dv; e += 8 * lanes) {
    value_group<Pace, 8>(v + e, v_row, keys, weights, shrink, o + e, fetch);
  }
  for (; e + lanes <= Dv; e += lanes) {
    value_group<Pace, 1>(v + e, v_row, keys, weights, shrink, o + e, fetch);
  }
  for (; e < Dv; ++e) {
    float sum = 0;
    for (std::ptrdiff_t key = 0; key < keys; ++key) sum += weights[key] * v[key * v_row + e];
    o[e] = o[e] * shrink + sum;
  }
}

}  // namespace
}  // namespace qkv
