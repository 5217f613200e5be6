// MatrixProducts: both products of attention in a matrix unit, of bfloat16 numbers, for
// matrix_rows().
#pragma once

#include "kernels/simd/bfloat_words.hpp"
#include "kernels/simd/float_products.hpp"
#include "kernels/simd/multiply_tiles.hpp"

namespace qkv {
namespace {

inline std::ptrdiff_t up_to_multiple(std::ptrdiff_t size, std::ptrdiff_t of) {
  return (size + of - 1) / of * of;
}

/// The bits of a tile's weights, rounded; a NaN stays one.
inline BitVec weight_bits(Vec exponent) {
  const BitVec nan = 0x7fc00000U - BitVec{};
  const BitVec bits = bits_of(exp2_or_zero(exponent));
#if defined(__AVX512F__)
  // Compilers do not find the instruction; with a mask for the reason given in greater().
  return reinterpret_cast<BitVec>(_mm512_maskz_min_epu32(0xffff, reinterpret_cast<__m512i>(bits),
                                                         reinterpret_cast<__m512i>(nan))) +
         0x8000U;
#else
  return (bits < nan ? bits : nan) + 0x8000U;
#endif
}

/// What running_weights() does, with the weights rounded to bfloat16, in words of two keys. Those
/// are the weights that are summed, so that they are the ones by whose sum they are divided.
///
/// shape   logits (keys, Vecs*lanes), keys a multiple of 8; words (keys/2, Vecs*lanes)
template <int Vecs>
inline void running_words(LaneBlock& rows, float factor, const Vec (&greatest)[Vecs], int keys,
                          const float* logits, float* words, Vec (&shrink)[Vecs]) {
  constexpr std::uint32_t upper = 0xffff0000U;
  Vec base[Vecs], sums[Vecs] = {};
  raise_top<Vecs>(rows, factor, greatest, base, shrink);
  for (int first = 0; first < keys; first += weight_chain) {
    Vec few[Vecs] = {};
    for (int key = first; key < first + weight_chain; key += 2) {
#pragma GCC unroll 4
      for (int v = 0; v < Vecs; ++v) {
        const float* at = logits + (key * Vecs + v) * lanes;
        const BitVec even = weight_bits(load(at) * factor - base[v]);
        const BitVec odd = weight_bits(load(at + Vecs * lanes) * factor - base[v]);
        few[v] += reinterpret_cast<Vec>(even & upper) + reinterpret_cast<Vec>(odd & upper);
        store(words + (key / 2 * Vecs + v) * lanes, paired(even, odd));
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) sums[v] += few[v];
  }
  add_weights<Vecs>(rows, shrink, sums);
}

template <class Unit>
struct MatrixProducts {
  Unit unit = {};
  FloatTile tile;
  float* k_words;  ///< (tile_keys, D/2), D up to a multiple of 32
  float* v_words;  ///< (Dv up to a multiple of 16, tile_keys/2): v transposed
  float* words;    ///< (tile_keys/2, width), weights
  float* sums;     ///< (32, 32)
  IntVec off{};    ///< not 0: something was not finite in bfloat16, and the sums are not right

  static std::ptrdiff_t row_words_of(std::ptrdiff_t D) { return up_to_multiple(D, 32) / 2; }
  static std::ptrdiff_t float_room(const FlatProblem& p) {
    return up_to_multiple(FloatTile::room(p), 16);
  }
  static std::ptrdiff_t tile_room(const FlatProblem& p) {
    return float_room(p) + tile_keys * row_words_of(p.D) +
           up_to_multiple(p.Dv, 16) * (tile_keys / 2) + tile_keys / 2 * max_width + 32 * 32;
  }
  static std::ptrdiff_t block_room(const FlatProblem& p) {
    return max_width * (row_words_of(p.D) + p.Dv);
  }

  MatrixProducts(const FlatProblem& p, float* room) : tile(p, room) {
    k_words = room + float_room(p);
    v_words = k_words + tile_keys * row_words_of(p.D);
    words = v_words + up_to_multiple(p.Dv, 16) * (tile_keys / 2);
    sums = words + tile_keys / 2 * max_width;
  }

  /// Takes the queries of a lane block, and zeros its sums. rows.q are words of two channels,
  /// (D/2, width).
  void start(const FlatProblem& p, const RowBlock& block, LaneBlock& rows, float* room) {
    const int width = rows.width();
    rows.q = room;
    rows.o = rows.q + row_words_of(p.D) * width;
    const float* from[max_width];
    tile.queries(p, block, rows, from);
    for (int first = 0; first < width; first += lanes) {
      for (std::ptrdiff_t d = 0; d < p.D; d += 32) {
        Vec square[lanes];
        for (int n = 0; n < lanes; ++n) square[n] = row_words(from[first + n] + d, p.D - d, off);
        transpose_square(square);
#pragma GCC unroll 16
        for (int n = 0; n < lanes; ++n) store(rows.q + (d / 2 + n) * width + first, square[n]);
      }
    }
    FloatProducts::clear(p, rows);
  }

  void find_tile(const FlatProblem& p, const RowBlock& block, std::int32_t j0, int keys) {
    if (!tile.find(p, block, j0, keys)) return;
    take_keys(p.D, keys);
    take_values(p.Dv, keys);
  }

  template <int Vecs>
  void scores(const FlatProblem& p, const LaneBlock& rows, int keys, float* weights,
              Vec (&greatest)[Vecs], Fetch& fetch) {
    fetch.finish();
    const std::ptrdiff_t k_row = row_words_of(p.D);
    for (int key = 0; key < keys; key += 32) {
      const float* k = k_words + key * k_row;
      float* to = weights + key * Vecs * lanes;
      if (keys - key > 16) {
        multiply_across<2, Vecs>(k, k_row, rows.q, k_row / 16, to);
      } else {
        multiply_across<1, Vecs>(k, k_row, rows.q, k_row / 16, to);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) greatest[v] = splat(-infinity);
    for (int key = 0; key < keys; ++key) {
#pragma GCC unroll 4
      for (int v = 0; v < Vecs; ++v)
        greatest[v] = greater(load(weights + (key * Vecs + v) * lanes), greatest[v]);
    }
  }

  /// A running pass: where it does not do, float32 has to.
  template <int Vecs>
  void add(const FlatProblem& p, Pass, float factor, const Vec (&greatest)[Vecs], int keys,
           float* logits, LaneBlock& rows) {
    const auto padded = static_cast<int>(up_to_multiple(keys, 32));
    for (int n = keys * Vecs * lanes; n < padded * Vecs * lanes; n += lanes)
      store(logits + n, splat(-infinity));
    Vec shrink[Vecs];
    running_words<Vecs>(rows, factor, greatest, padded, logits, words, shrink);
    for (std::ptrdiff_t e = 0; e < p.Dv; e += 32) {
      if (p.Dv - e > 16) {
        add_channels<2, 0, Vecs>(e, p.Dv - e, padded / 32, shrink, rows.o);
      } else {
        add_channels<1, 0, Vecs>(e, p.Dv - e, padded / 32, shrink, rows.o);
      }
    }
  }

 private:
  /// Rows of k as words of two channels, zeros where there is no key or channel.
  void take_keys(std::ptrdiff_t D, int keys) {
    const std::ptrdiff_t row = row_words_of(D);
    IntVec strange{};
    for (std::ptrdiff_t key = 0; key < keys; ++key) {
      const float* from = tile.k.at + key * tile.k.row;
      float* to = k_words + key * row;
      std::ptrdiff_t d = 0;
      for (; d + 32 <= D; d += 32) store(to + d / 2, row_words(from + d, 32, strange));
      if (d < D) store(to + d / 2, row_words(from + d, D - d, strange));
    }
    off |= strange;
    const std::ptrdiff_t missing = up_to_multiple(keys, 16) - keys;
    __builtin_memset(k_words + keys * row, 0,
                     static_cast<std::size_t>(missing * row) * sizeof(float));
  }

  /// Columns of v as words of two keys, zeros where there is no key or channel.
  void take_values(std::ptrdiff_t Dv, int keys) {
    constexpr std::ptrdiff_t row = tile_keys / 2;
    IntVec strange{};
    for (int first = 0; first < keys; first += 32) {
      for (std::ptrdiff_t e = 0; e < Dv; e += lanes) {
        const auto channels_of = [&](int key) {
          if (key >= keys) return Vec{};
          return load_finite(tile.v.at + key * tile.v.row + e, Dv - e, strange);
        };
        Vec square[lanes];
#pragma GCC unroll 16
        for (int n = 0; n < lanes; ++n) {
          const int key = first + 2 * n;
          square[n] = paired(rounded(channels_of(key)), rounded(channels_of(key + 1)));
        }
        transpose_square(square);
#pragma GCC unroll 16
        for (int n = 0; n < lanes; ++n) store(v_words + (e + n) * row + first / 2, square[n]);
      }
    }
    off |= strange;
  }

  /// c = a * b for all Vecs*lanes columns of b and c.
  template <int Rows, int Vecs>
  void multiply_across(const float* a, std::ptrdiff_t a_row, const float* b, std::ptrdiff_t steps,
                       float* c) {
    constexpr int width = Vecs * lanes;
    int v = 0;
    for (; v + 2 <= Vecs; v += 2)
      multiply_tiles<Rows, 2>(unit, a, a_row, b + v * lanes, width, steps, c + v * lanes, width);
    if (v < Vecs)
      multiply_tiles<Rows, 1>(unit, a, a_row, b + v * lanes, width, steps, c + v * lanes, width);
  }

  /// o[e] = o[e]*shrink + sum_key v[key][e] * weight[key] for 16*Rows channels, of which `left` are
  /// there, and the lanes of registers First and up.
  template <int Rows, int First, int Vecs>
  void add_channels(std::ptrdiff_t e, std::ptrdiff_t left, std::ptrdiff_t steps,
                    const Vec (&shrink)[Vecs], float* o) {
    constexpr int columns = Vecs - First >= 2 ? 2 : 1;
    multiply_tiles<Rows, columns>(unit, v_words + e * (tile_keys / 2), tile_keys / 2,
                                  words + First * lanes, Vecs * lanes, steps, sums,
                                  columns * lanes);
    const std::ptrdiff_t channels = left < 16 * Rows ? left : 16 * Rows;
    for (std::ptrdiff_t n = 0; n < channels; ++n) {
#pragma GCC unroll 2
      for (int v = 0; v < columns; ++v) {
        float* to = o + ((e + n) * Vecs + First + v) * lanes;
        store(to, load(to) * shrink[First + v] + load(sums + (n * columns + v) * lanes));
      }
    }
    if constexpr (First + columns < Vecs)
      add_channels<Rows, First + columns, Vecs>(e, left, steps, shrink, o);
  }
};

}  // namespace
}  // namespace qkv
