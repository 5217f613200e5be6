// The two products of attention, queries in the lanes: k and v are read where they lie.
#pragma once

#include "kernels/simd/fetch.hpp"
#include "kernels/simd/vec.hpp"

namespace qkv {
namespace {

/// Keys, or channels of v, whose sums stay in registers together. SSE2 has sixteen of them, and a
/// product and a sum need one more than a multiply-add: four rows would spill.
#if defined(__SSE2__) && !defined(__AVX__)
constexpr int few_rows = 3;
#else
constexpr int few_rows = 4;
#endif
constexpr int block_rows = lanes == 16 ? 6 : few_rows;
constexpr int block_channels = lanes == 16 ? 4 : few_rows;

/// The narrowest registers leave a core no free instructions between the multiply-adds.
constexpr bool fetches_beside = lanes > 4;

/// s[key][lane] = sum_d k[key][d] * q[d][lane] for `Keys` keys; `greatest` grows with them. Each
/// channel takes a step of `fetch`, unless what is left of it is finished behind the tile.
///
/// shape   k rows `k_row` apart, q (D, Vecs*lanes), s (Keys, Vecs*lanes)
template <int Keys, int Vecs>
inline void score_block(const float* k, std::ptrdiff_t k_row, const float* q, std::ptrdiff_t D,
                        float* s, Vec (&greatest)[Vecs], Fetch& fetch) {
  Vec sums[Keys][Vecs];
#pragma GCC unroll 8
  for (int key = 0; key < Keys; ++key) {
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) sums[key][v] = Vec{};
  }
  for (std::ptrdiff_t d = 0; d < D; ++d) {
    if constexpr (fetches_beside) fetch.step();
    Vec queries[Vecs];
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) queries[v] = load(q + (d * Vecs + v) * lanes);
#pragma GCC unroll 8
    for (int key = 0; key < Keys; ++key) {
      const Vec channel = splat(k[key * k_row + d]);
#pragma GCC unroll 4
      for (int v = 0; v < Vecs; ++v) sums[key][v] += channel * queries[v];
    }
  }
#pragma GCC unroll 8
  for (int key = 0; key < Keys; ++key) {
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) {
      store(s + (key * Vecs + v) * lanes, sums[key][v]);
      greatest[v] = greater(sums[key][v], greatest[v]);
    }
  }
}

/// The scores of `keys` keys, and the greatest of each query; starts from -Inf.
template <int Vecs>
inline void score_tile(const float* k, std::ptrdiff_t k_row, int keys, const float* q,
                       std::ptrdiff_t D, float* s, Vec (&greatest)[Vecs], Fetch& fetch) {
#pragma GCC unroll 4
  for (int v = 0; v < Vecs; ++v) greatest[v] = splat(-infinity);
  int key = 0;
  for (; key + block_rows <= keys; key += block_rows)
    score_block<block_rows, Vecs>(k + key * k_row, k_row, q, D, s + key * Vecs * lanes, greatest,
                                  fetch);
  const float* rest = k + key * k_row;
  float* to = s + key * Vecs * lanes;
  switch (keys - key) {
    case 5:
      return score_block<5, Vecs>(rest, k_row, q, D, to, greatest, fetch);
    case 4:
      return score_block<4, Vecs>(rest, k_row, q, D, to, greatest, fetch);
    case 3:
      return score_block<3, Vecs>(rest, k_row, q, D, to, greatest, fetch);
    case 2:
      return score_block<2, Vecs>(rest, k_row, q, D, to, greatest, fetch);
    case 1:
      return score_block<1, Vecs>(rest, k_row, q, D, to, greatest, fetch);
    default:
      return;
  }
}

/// o[e][lane] = o[e][lane]*shrink[lane] + sum_key v[key][e] * p[key][lane] for `Channels` channels.
///
/// shape   v rows `v_row` apart, p (keys, Vecs*lanes), o (Channels, Vecs*lanes)
/// edge    the tile's sum starts at zero and is folded in once: shorter chains round less
template <int Channels, int Vecs>
inline void value_block(const float* v, std::ptrdiff_t v_row, int keys, const float* p,
                        const Vec (&shrink)[Vecs], float* o) {
  Vec sums[Channels][Vecs];
#pragma GCC unroll 8
  for (int e = 0; e < Channels; ++e) {
#pragma GCC unroll 4
    for (int n = 0; n < Vecs; ++n) sums[e][n] = Vec{};
  }
  for (std::ptrdiff_t key = 0; key < keys; ++key) {
    Vec weights[Vecs];
#pragma GCC unroll 4
    for (int n = 0; n < Vecs; ++n) weights[n] = load(p + (key * Vecs + n) * lanes);
#pragma GCC unroll 8
    for (int e = 0; e < Channels; ++e) {
      const Vec value = splat(v[key * v_row + e]);
#pragma GCC unroll 4
      for (int n = 0; n < Vecs; ++n) sums[e][n] += value * weights[n];
    }
  }
#pragma GCC unroll 8
  for (int e = 0; e < Channels; ++e) {
#pragma GCC unroll 4
    for (int n = 0; n < Vecs; ++n) {
      float* to = o + (e * Vecs + n) * lanes;
      store(to, load(to) * shrink[n] + sums[e][n]);
    }
  }
}

/// The weighted sum of `keys` rows of v added to what `o` holds, shrunk.
template <int Vecs>
inline void value_tile(const float* v, std::ptrdiff_t v_row, int keys, const float* p,
                       const Vec (&shrink)[Vecs], std::ptrdiff_t Dv, float* o) {
  std::ptrdiff_t e = 0;
  for (; e + block_channels <= Dv; e += block_channels)
    value_block<block_channels, Vecs>(v + e, v_row, keys, p, shrink, o + e * Vecs * lanes);
  for (; e < Dv; ++e) value_block<1, Vecs>(v + e, v_row, keys, p, shrink, o + e * Vecs * lanes);
}

}  // namespace
}  // namespace qkv
