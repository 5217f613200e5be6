// From scores to logits: the stages scaled, capped and masked, for a tile of keys and queries.
#pragma once

#include "kernels/simd/exponential.hpp"
#include "kernels/simd/hidden_keys.hpp"
#include "kernels/simd/transpose.hpp"

namespace qkv {
namespace {

/// True where the stages before masked multiply by the scale and do nothing else.
inline bool only_scales(const FlatProblem& p) { return p.softcap == 0 && p.slopes == nullptr; }

/// What the stages scaled, capped and masked do to a tile of scores, but for hiding and the float
/// mask.
template <int Vecs>
inline void bend_tile(const FlatProblem& p, const LaneBlock& rows, std::int32_t j0, int keys,
                      TileScratch& scratch) {
  const Vec scale = splat(p.scale), cap = splat(p.softcap);
  for (int n = 0; n < keys * Vecs * lanes; n += lanes) {
    float* at = scratch.weights + n;
    const Vec x = load(at) * scale;
    store(at, p.softcap != 0 ? cap * tanh_of(x / cap) : x);
  }
  if (p.slopes == nullptr) return;
  for (int key = 0; key < keys; ++key) {
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) {
      float* at = scratch.weights + (key * Vecs + v) * lanes;
      IntVec away;
      __builtin_memcpy(&away, rows.own + v * lanes, sizeof away);
      away -= j0 + key;
      const Vec distance = __builtin_convertvector(away < 0 ? -away : away, Vec);
      store(at, load(at) - load(rows.slope + v * lanes) * distance);
    }
  }
}

/// What hiding does to a register of logits, one key for `lanes` queries.
struct Hiding {
  Vec fill;
  IntVec seen{};
  Vec greatest = splat(-infinity);

  Vec operator()(Vec x, IntVec hidden) {
    x = hidden ? fill : x;
    seen |= ~hidden;
    greatest = greater(x, greatest);
    return x;
  }
  /// Nothing but -Inf in the float mask hides.
  Vec add(Vec x, Vec added) {
    const IntVec veiled = added == splat(-infinity);
    x = veiled ? splat(-infinity) : x + added;
    seen |= ~veiled;
    greatest = greater(x, greatest);
    return x;
  }
  /// -Inf in the float mask hides, whatever the fill.
  Vec operator()(Vec x, IntVec hidden, Vec added) {
    const IntVec veiled = added == splat(-infinity);
    x = hidden ? fill : x + added;
    x = veiled ? splat(-infinity) : x;
    seen |= ~(hidden | veiled);
    greatest = greater(x, greatest);
    return x;
  }
};

/// Lanes of vector v from which a key is hidden.
inline IntVec hidden_lanes(const TileScratch& scratch, int width, int v, int key) {
  IntVec words;
  __builtin_memcpy(&words, scratch.hidden + key / 32 * width + v * lanes, sizeof words);
  return (words & splat(static_cast<std::int32_t>(1U << (key % 32)))) != 0;
}

/// logit = fill where hidden, if any is, -Inf where the float mask is -Inf, else score*scale with
/// the float mask added; the mask is transposed on the way, a square of keys and queries at a time.
template <bool AnyHidden>
inline void add_mask(const float* const* from, std::ptrdiff_t stride, int width, int v, int keys,
                     float scale, TileScratch& scratch, Hiding& all_hiding) {
  Hiding hiding = all_hiding;  // in registers
  const auto adjust = [&](int key, Vec added) {
    float* at = scratch.weights + key * width + v * lanes;
    const Vec x = load(at) * scale;
    if constexpr (AnyHidden) {
      store(at, hiding(x, hidden_lanes(scratch, width, v, key), added));
    } else {
      store(at, hiding.add(x, added));
    }
  };
  for (int first = 0; first < keys; first += lanes) {
    const int here = keys - first < lanes ? keys - first : lanes;
    Vec square[lanes];
    if (stride == 0) {
      Vec same;
      for (int n = 0; n < lanes; ++n) same[n] = *from[v * lanes + n];
#pragma GCC unroll 16
      for (int n = 0; n < lanes; ++n) square[n] = same;
    } else {
#pragma GCC unroll 16
      for (int n = 0; n < lanes; ++n) {
        const float* row = from[v * lanes + n] + first;
        square[n] = here == lanes ? load(row) : load_first(row, here);
      }
      transpose_square(square);
    }
    if (here == lanes) {
#pragma GCC unroll 16
      for (int n = 0; n < lanes; ++n) adjust(first + n, square[n]);
    } else {
#pragma GCC unroll 16
      for (int n = 0; n < lanes; ++n)
        if (n < here) adjust(first + n, square[n]);
    }
  }
  all_hiding = hiding;
}

/// The stages scaled, capped and masked for a tile of scores; `greatest` is found anew, and what
/// each query sees is noted.
template <int Vecs>
inline void adjust_tile(const FlatProblem& p, LaneBlock& rows, std::ptrdiff_t b, Sight sight,
                        std::int32_t j0, int keys, TileScratch& scratch, Vec (&greatest)[Vecs]) {
  const bool scales_here = p.added != nullptr && only_scales(p);
  if (!is_plain(p) && !scales_here) bend_tile<Vecs>(p, rows, j0, keys, scratch);
  constexpr int width = Vecs * lanes;
  if (sight == Sight::nothing || (sight == Sight::all && p.added == nullptr)) {
    const std::uint32_t all = sight == Sight::nothing ? ~0U : 0U;
    for (int n = 0; n < tile_keys / 32 * width; ++n) scratch.hidden[n] = all;
  }
  Hiding hiding[Vecs];
#pragma GCC unroll 4
  for (int v = 0; v < Vecs; ++v) hiding[v].fill = splat(p.fill);
  if (p.added != nullptr) {
    const float* from[max_width];
    added_rows(p, rows, b, j0, from);
    const float scale = scales_here ? p.scale : 1.0F;
    for (int v = 0; v < Vecs; ++v) {
      if (sight == Sight::all) {
        add_mask<false>(from, p.added_at.j, width, v, keys, scale, scratch, hiding[v]);
      } else {
        add_mask<true>(from, p.added_at.j, width, v, keys, scale, scratch, hiding[v]);
      }
    }
  } else {
    for (int key = 0; key < keys; ++key) {
#pragma GCC unroll 4
      for (int v = 0; v < Vecs; ++v) {
        float* at = scratch.weights + key * width + v * lanes;
        store(at, hiding[v](load(at), hidden_lanes(scratch, width, v, key)));
      }
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < Vecs; ++v) {
    greatest[v] = hiding[v].greatest;
    IntVec seen;
    __builtin_memcpy(&seen, rows.seen + v * lanes, sizeof seen);
    seen |= hiding[v].seen;
    __builtin_memcpy(rows.seen + v * lanes, &seen, sizeof seen);
  }
}

}  // namespace
}  // namespace qkv
