// What comes out of a row beside its sums: heads where it saw no key, and its log-sum-exp.
#pragma once

#include "kernels/simd/lane_block.hpp"
#include "kernels/simd/source.hpp"

namespace qkv {
namespace {

/// Where heads of lane n belong.
inline float* heads_row(const FlatProblem& p, const RowBlock& block, const LaneBlock& rows, int n) {
  return p.heads + (block.b - p.first_b) * p.heads_at.b +
         (rows.head[n] - p.first_h) * p.heads_at.h + (rows.query[n] - p.first_query) * p.heads_at.i;
}

/// heads of a query that sees no key: every row of v times the agreed weight.
inline void write_empty_row(const FlatProblem& p, const RowBlock& block, bool special, float* to) {
  const float weight = p.empty_weight;
  for (std::ptrdiff_t e = 0; e < p.Dv; ++e) {
    double sum = 0;
    if (weight != 0 || special) {
      for (std::ptrdiff_t j = 0; j < p.S; ++j)
        sum += static_cast<double>(float_at(p.v, block.b, block.g, j, e)) *
               static_cast<double>(weight);
    }
    to[e] = static_cast<float>(sum);
  }
}

/// True where the query of lane n saw no key.
inline bool is_empty(const FlatProblem& p, const LaneBlock& rows, int n) {
  return rows.sum[n] == 0 || (p.hides && !sum_tells_empty(p) && rows.seen[n] == 0);
}

/// lse of lane n from its statistics, -Inf where it saw no key.
inline void write_lse(const FlatProblem& p, const RowBlock& block, const LaneBlock& rows, int n,
                      bool empty) {
  if (p.lse == nullptr) return;
  constexpr double ln_2 = 0.693147180559945309417;
  const double top = static_cast<double>(rows.top[n]), sum = static_cast<double>(rows.sum[n]);
  p.lse[(block.b - p.first_b) * p.lse_at.b + (rows.head[n] - p.first_h) * p.lse_at.h +
        (rows.query[n] - p.first_query) * p.lse_at.i] =
      empty ? -infinity : static_cast<float>((top + __builtin_log2(sum)) * ln_2);
}

}  // namespace
}  // namespace qkv
