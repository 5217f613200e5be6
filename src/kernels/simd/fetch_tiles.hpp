// What a pass over a tile brings to the cache for the passes after it.
#pragma once

#include "kernels/simd/fetch.hpp"
#include "kernels/simd/hidden_keys.hpp"

namespace qkv {
namespace {

/// The masks of a tile for the queries of a lane block: their rows lie far apart, and no prefetcher
/// of the CPU follows them.
inline void fetch_masks(const FlatProblem& p, const LaneBlock& rows, std::ptrdiff_t b,
                        std::int32_t j0, Fetch& fetch) {
  const std::ptrdiff_t keys = p.S - j0 < tile_keys ? p.S - j0 : tile_keys;
  for (int n = 0, end = 0; n < rows.count; n = end) {
    while (end < rows.count && rows.head[end] == rows.head[n]) ++end;
    const std::ptrdiff_t h = rows.head[n], i = rows.query[n];
    if (p.hidden != nullptr && p.hidden_at.j != 0) {
      const Strides& at = p.hidden_at;
      fetch.add(p.hidden + b * at.b + h * at.h + i * at.i + j0, at.i == 0 ? 1 : end - n, at.i,
                keys);
    }
    if (p.added != nullptr && p.added_at.j != 0) {
      const Strides& at = p.added_at;
      fetch.add(p.added + b * at.b + h * at.h + i * at.i + j0, at.i == 0 ? 1 : end - n, at.i * 4,
                keys * 4);
    }
  }
}

/// The m-th of `parts` parts of a tile of k and v.
inline void fetch_tile(const FlatProblem& p, std::ptrdiff_t b, std::ptrdiff_t g, std::ptrdiff_t j0,
                       int m, int parts, Fetch& fetch) {
  const std::ptrdiff_t keys = p.S - j0 < tile_keys ? p.S - j0 : tile_keys;
  const std::ptrdiff_t from = j0 + keys * m / parts, to = j0 + keys * (m + 1) / parts;
  fetch_rows(p.k, b, g, from, to, p.D, fetch);
  fetch_rows(p.v, b, g, from, to, p.Dv, fetch);
}

/// The m-th lane block of queries of a block.
inline void fetch_queries(const FlatProblem& p, const RowBlock& block, int m, Fetch& fetch) {
  const std::ptrdiff_t end = block.first_row + block.rows;
  std::ptrdiff_t row = block.first_row + m * max_width;
  const std::ptrdiff_t last = row + max_width < end ? row + max_width : end;
  while (row < last) {
    const std::ptrdiff_t i = row % p.L;
    const std::ptrdiff_t rows = p.L - i < last - row ? p.L - i : last - row;
    fetch_rows(p.q, block.b, block.first_head + row / p.L, i, i + rows, p.D, fetch);
    row += rows;
  }
}

}  // namespace
}  // namespace qkv
