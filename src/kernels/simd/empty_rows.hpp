// What comes out of a row beside its sums: heads where it saw no key, and its log-sum-exp.
#pragma once

#include "kernels/simd/lane_block.hpp"

namespace qkv {
namespace {

/// heads of a query that sees no key: every row of v times the agreed weight.
inline void write_empty_row(const FlatProblem& p, const RowBlock& block, bool special, float* to) {
  const float* v = p.v + block.b * p.v_at.b + block.g * p.v_at.h;
  const float weight = p.empty_weight;
  for (std::ptrdiff_t e = 0; e < p.Dv; ++e) {
    double sum = 0;
    if (weight != 0 || special) {
      for (std::ptrdiff_t j = 0; j < p.S; ++j)
        sum += static_cast<double>(v[j * p.v_at.i + e]) * static_cast<double>(weight);
    }
    to[e] = static_cast<float>(sum);
  }
}

/// True where the query of lane n saw no key.
inline bool is_empty(const FlatProblem& p, const LaneBlock& rows, int n) {
  return rows.sum[n] == 0 || (p.hides && !p.sum_tells_empty() && rows.seen[n] == 0);
}

/// lse of lane n from its statistics, -Inf where it saw no key.
inline void write_lse(const FlatProblem& p, const RowBlock& block, const LaneBlock& rows, int n,
                      bool empty) {
  if (p.lse == nullptr) return;
  constexpr double ln_2 = 0.693147180559945309417;
  const double top = static_cast<double>(rows.top[n]), sum = static_cast<double>(rows.sum[n]);
  p.lse[(block.b * p.H + rows.head[n]) * p.L + rows.query[n]] =
      empty ? -infinity : static_cast<float>((top + __builtin_log2(sum)) * ln_2);
}

}  // namespace
}  // namespace qkv
