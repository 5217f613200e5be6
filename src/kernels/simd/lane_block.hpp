// LaneBlock: a few queries, one in each lane, with what each of them may see.
#pragma once

#include "kernels/simd/flat_problem.hpp"
#include "kernels/simd/vec.hpp"

namespace qkv {
namespace {

/// A row that sees no key has weights that sum to 0.
inline bool sum_tells_empty(const FlatProblem& p) { return p.fill == -infinity; }

/// A logit is the score times a positive number and nothing else; where it is hidden it is -Inf,
/// and a row's sum tells whether everything was.
inline bool is_plain(const FlatProblem& p) {
  return p.scale > 0 && p.scale < infinity && p.softcap == 0 && p.added == nullptr &&
         p.slopes == nullptr && (!p.hides || sum_tells_empty(p));
}

constexpr int max_width = max_vecs * lanes;

/// Rows that the kernel for few queries takes together.
constexpr int max_decode_rows = 16;

constexpr int lane_room = max_width > max_decode_rows ? max_width : max_decode_rows;

/// From here on a query is a lane. Lanes beyond `count` repeat the last query.
struct LaneBlock {
  int vecs = 0, count = 0;
  float* q = nullptr;  ///< (D, vecs*lanes)
  float* o = nullptr;  ///< (Dv, vecs*lanes), sum over the keys so far of weight * v
  /// Running statistics: the greatest logit, in powers of two, and the sum of 2^(logit - top).
  float top[lane_room], sum[lane_room];
  float lost[lane_room];         ///< what rounding took from sum
  std::int32_t seen[lane_room];  ///< not 0: sees a key; kept where the sum does not tell

  std::ptrdiff_t head[lane_room], query[lane_room];
  std::int32_t first[lane_room], last[lane_room];  ///< no key outside is visible
  std::int32_t own[lane_room];                     ///< key at which the query stands
  float slope[lane_room];
  /// first and last of all lanes: the keys that any sees, and those that no bound hides from any
  std::int32_t any_first = 0, any_last = 0, all_first = 0, all_last = 0;

  int width() const { return vecs * lanes; }
};

inline std::int32_t between(long long x, long long low, long long high) {
  return static_cast<std::int32_t>(x < low ? low : (x > high ? high : x));
}

/// The bounds that the causal rule, the window and the lengths set to lane `n`.
inline void set_bounds(const FlatProblem& p, std::ptrdiff_t b, LaneBlock& rows, int n) {
  const long long S = p.S, i = rows.query[n];
  const long long own = i + (p.offset != nullptr ? p.offset[b] : 0);
  const long long window = i + (p.window_offset != nullptr ? p.window_offset[b] : 0);
  long long first = 0, last = S - 1;
  if (p.causal && own < last) last = own;
  if (p.window_left >= 0 && window - p.window_left > first) first = window - p.window_left;
  if (p.window_right >= 0 && window + p.window_right < last) last = window + p.window_right;
  if (p.lengths != nullptr && static_cast<long long>(p.lengths[b]) - 1 < last)
    last = static_cast<long long>(p.lengths[b]) - 1;
  rows.first[n] = between(first, 0, S);
  rows.last[n] = between(last, -1, S - 1);
  rows.own[n] = between(own, -(1LL << 30), 1LL << 30);
}

/// Lanes for `count` rows of a block, from row `first` on, with nothing seen yet.
inline void set_rows(const FlatProblem& p, const RowBlock& block, std::ptrdiff_t first, int count,
                     LaneBlock& rows) {
  rows.count = count;
  rows.vecs = (count + lanes - 1) / lanes;
  for (int n = 0; n < rows.width(); ++n) {
    const std::ptrdiff_t row = first + (n < count ? n : count - 1);
    const std::ptrdiff_t h = block.first_head + row / p.L;
    rows.head[n] = h;
    rows.query[n] = row % p.L;
    set_bounds(p, block.b, rows, n);
    rows.slope[n] = p.slopes != nullptr ? p.slopes[h] : 0;
    rows.top[n] = -infinity;
    rows.sum[n] = 0;
    rows.lost[n] = 0;
    rows.seen[n] = 0;
    const bool start = n == 0;
    if (start || rows.first[n] < rows.any_first) rows.any_first = rows.first[n];
    if (start || rows.first[n] > rows.all_first) rows.all_first = rows.first[n];
    if (start || rows.last[n] > rows.any_last) rows.any_last = rows.last[n];
    if (start || rows.last[n] < rows.all_last) rows.all_last = rows.last[n];
  }
}

}  // namespace
}  // namespace qkv
