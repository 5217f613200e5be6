// FlatProblem: what a fast kernel works on, as pointers and strides only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qkv {

/// Elements from one index to the next, 0 along an axis that is broadcast.
struct Strides {
  std::ptrdiff_t b = 0, h = 0, i = 0, j = 0;
};

/// Rows of floats where they lie, or of halves, which are widened when they are needed. Any row
/// stride does; the channels of a row are adjacent.
struct Source {
  const float* floats = nullptr;
  const std::uint16_t* halves = nullptr;  ///< where there are no floats
  bool bfloat = false;                    ///< the halves are bfloat16, not float16
  Strides at = {};
};

/// Attention from q, k and v to heads.
struct FlatProblem {
  std::ptrdiff_t B = 0, H = 0, G = 0, L = 0, S = 0, D = 0, Dv = 0;

  Source q = {}, k = {}, v = {};  ///< (B,H,L,D), (B,G,S,D), (B,G,S,Dv)
  float* heads = nullptr;         ///< (B,H,L,Dv), written
  float* lse = nullptr;           ///< (B,H,L), written; null: not wanted
  Strides heads_at = {}, lse_at = {};
  /// heads and lse hold a part of all queries, which begins here.
  std::ptrdiff_t first_b = 0, first_h = 0, first_query = 0;

  float scale = 1;
  float softcap = 0;              ///< 0: none
  const float* slopes = nullptr;  ///< (H), -slope*|i + offset - j| is added; null: none

  bool hides = false;  ///< any of the rules below is there
  bool causal = false;
  long long window_left = -1, window_right = -1;
  const long long* offset = nullptr;         ///< (B), of the causal rule and of the slopes
  const long long* window_offset = nullptr;  ///< (B)
  const std::size_t* lengths = nullptr;      ///< (B); null: none
  const std::uint8_t* padded = nullptr;      ///< (B,S), 0 or 1; null: none
  const std::uint8_t* hidden = nullptr;      ///< (B,H,L,S), 0 or 1; null: none
  Strides hidden_at = {};
  const float* added = nullptr;  ///< (B,H,L,S), -Inf hides; null: none
  Strides added_at = {};
  float fill = 0;          ///< what hidden scores become
  float empty_weight = 0;  ///< of each key in a row that sees none

  /// (B,G), 1 where v holds a NaN or an infinity, which reach every query however small its weight;
  /// null: not known, because every tile is read anyway.
  const std::uint8_t* special_v = nullptr;
};

/// Rows of one kv head: row r is query r % L of head first_head + r / L.
struct RowBlock {
  std::ptrdiff_t b = 0, g = 0, first_head = 0;
  std::ptrdiff_t first_row = 0, rows = 0;
};

}  // namespace qkv
