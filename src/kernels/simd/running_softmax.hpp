// Softmax kept up while tiles of keys pass, a query in each lane.
#pragma once

#include "kernels/simd/exponential.hpp"
#include "kernels/simd/lane_block.hpp"

namespace qkv {
namespace {

/// What a pass over the keys is for.
enum class Pass {
  running,  ///< statistics and sums, rescaled as the maximum grows
  settled   ///< sums alone, with the statistics known: each weight is final, as the pipeline's is
};

/// Hidden keys of finite fill weigh exactly nothing beside what every lane has seen.
inline bool fill_is_nothing(const FlatProblem& p, const LaneBlock& rows) {
  // exp underflows at 104, which is 150 powers of two; a NaN says no.
  bool nothing = true;
  for (int n = 0; n < rows.count; ++n)
    nothing = nothing && p.fill * log2_e - rows.top[n] < -152.0F && rows.seen[n] != 0;
  return nothing;
}

/// Moves the greatest logits on by those of a tile. The tile's weights are 2^(logit*factor - base);
/// `shrink` is what the sums so far are multiplied by.
template <int Vecs>
inline void raise_top(LaneBlock& rows, float factor, const Vec (&greatest)[Vecs], Vec (&base)[Vecs],
                      Vec (&shrink)[Vecs]) {
#pragma GCC unroll 4
  for (int v = 0; v < Vecs; ++v) {
    const Vec before = load(rows.top + v * lanes);
    const Vec top = greater(greatest[v] * factor, before);
    // Nothing seen yet: -Inf - -Inf would be NaN.
    base[v] = top == splat(-infinity) ? Vec{} : top;
    shrink[v] = exp2_or_zero(before - base[v]);
    store(rows.top + v * lanes, top);
  }
}

/// Equal weights, added one by one to a sum, round in the same direction each time: chains of so
/// many are added up by themselves, and what the running sum loses is kept beside it.
constexpr int weight_chain = 8;

/// Adds the weights of a tile to the running sums.
template <int Vecs>
inline void add_weights(LaneBlock& rows, const Vec (&shrink)[Vecs], const Vec (&sums)[Vecs]) {
#pragma GCC unroll 4
  for (int v = 0; v < Vecs; ++v) {
    float* sum = rows.sum + v * lanes;
    float* lost = rows.lost + v * lanes;
    const Vec before = load(sum) * shrink[v];
    const Vec after = before + sums[v];
    const Vec added = after - before;
    store(sum, after);
    store(lost, load(lost) * shrink[v] + ((before - (after - added)) + (sums[v] - added)));
  }
}

/// Turns a tile of logits into weights, and moves top and sum on.
template <int Vecs>
inline void running_weights(LaneBlock& rows, float factor, const Vec (&greatest)[Vecs], int keys,
                            float* weights, Vec (&shrink)[Vecs]) {
  Vec base[Vecs], sums[Vecs] = {};
  raise_top<Vecs>(rows, factor, greatest, base, shrink);
  for (int first = 0; first < keys; first += weight_chain) {
    Vec few[Vecs] = {};
    const int end = first + weight_chain < keys ? first + weight_chain : keys;
    for (int key = first; key < end; ++key) {
#pragma GCC unroll 4
      for (int v = 0; v < Vecs; ++v) {
        float* at = weights + (key * Vecs + v) * lanes;
        const Vec weight = exp2_or_zero(load(at) * factor - base[v]);
        few[v] += weight;
        store(at, weight);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) sums[v] += few[v];
  }
  add_weights<Vecs>(rows, shrink, sums);
}

/// Turns a tile of logits into final weights, by the statistics of a running pass.
template <int Vecs>
inline void settled_weights(const LaneBlock& rows, float factor, int keys, float* weights) {
  for (int key = 0; key < keys; ++key) {
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) {
      const Vec top = load(rows.top + v * lanes), sum = load(rows.sum + v * lanes);
      const Vec base = top == splat(-infinity) ? Vec{} : top;
      const Vec part = sum == 0 ? Vec{} : 1 / sum;
      float* at = weights + (key * Vecs + v) * lanes;
      store(at, exp2_with_denormals(load(at) * factor - base) * part);
    }
  }
}

/// Divides the sums by their weights'. Returns whether every one is finite.
inline bool divide(const FlatProblem& p, LaneBlock& rows) {
  IntVec off{};
  for (int v = 0; v < rows.vecs; ++v) {
    const Vec sum = load(rows.sum + v * lanes) + load(rows.lost + v * lanes);
    store(rows.sum + v * lanes, sum);
    const Vec part = sum == 0 ? splat(1.0F) : 1 / sum;
    for (std::ptrdiff_t e = 0; e < p.Dv; ++e) {
      float* at = rows.o + (e * rows.vecs + v) * lanes;
      const Vec x = load(at) * part;
      off |= x * 0.0F != 0;
      store(at, x);
    }
  }
  return !any(off);
}

}  // namespace
}  // namespace qkv
