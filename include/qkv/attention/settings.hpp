// Settings: every convention of the computation, each with both of its readings spelt out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "qkv/tensor/arithmetic.hpp"

namespace qkv {

enum class MaskTrue { attend, hide };  ///< what True, or 1, means in a mask
enum class CausalAlign {
  start,
  end
};  ///< query 0 stands at key 0 (plus the cache) / the last query at the last key
enum class EmptyRows {
  zero,
  nan,
  uniform
};  ///< weights of a query that may see no key: 0, NaN, 1/S each
enum class WeightOrder { automatic, in_out, out_in };  ///< by the shapes / y = x*W / y = x*W^T
enum class QkvOrder {
  blocks,
  per_head,
  per_group
};                                           ///< columns q|k|v / (H, q k v, D) / (G, r*q k v, D)
enum class RopeStyle { half, interleaved };  ///< pairs (i, i+n/2) / (2i, 2i+1)
enum class QkNorm { rms, layer, l2 };        ///< how q and k are brought to one size
enum class Layout { bhld, blhd };            ///< order of the axes of rank-4 q, k, v

/// What a hidden score becomes before the softmax.
struct Fill {
  enum class Kind { negative_infinity, number, lowest } kind = Kind::negative_infinity;
  double number = 0;  ///< for Kind::number, logits
  bool operator==(const Fill&) const = default;
};

/// Keys further than `left` before or `right` after the query's own position are hidden; -1 is
/// open.
struct Window {
  long long left = -1;
  long long right = -1;
  bool operator==(const Window&) const = default;
};

struct Settings {
  Arithmetic arithmetic = Arithmetic::native;
  std::size_t heads = 1;                     ///< H
  std::optional<std::size_t> kv_heads = {};  ///< G, H where absent
  Layout layout = Layout::bhld;
  WeightOrder weight_order = WeightOrder::automatic;
  QkvOrder qkv_order = QkvOrder::blocks;

  bool causal = false;
  CausalAlign causal_align = CausalAlign::start;
  std::optional<Window> window = {};
  bool window_shifts = true;  ///< the window moves with the causal offset; false: its rows count
                              ///< from key 0 (jax, keras)
  MaskTrue mask_true = MaskTrue::attend;
  MaskTrue padding_true = MaskTrue::attend;
  bool short_mask_hides =
      false;  ///< a mask with fewer than S columns hides the keys it lacks (onnx) / is an error
  Fill fill = {};
  EmptyRows empty_rows = EmptyRows::zero;

  std::optional<double> scale =
      {};  ///< factor on the scores; 1/sqrt(D) where absent and no temperature
  std::optional<double> temperature = {};  ///< divides the scores in place of sqrt(D)
  std::optional<double> softcap = {};      ///< C in C*tanh(s/C), logits

  bool alibi = false;                   ///< linear biases by head are added to the scores
  std::optional<QkNorm> qk_norm = {};   ///< q and k are normalised by head before rotation
  std::optional<double> norm_eps = {};  ///< 1e-6 where absent; 1e-12 for l2
  double eps_of_norm() const { return norm_eps.value_or(qk_norm == QkNorm::l2 ? 1e-12 : 1e-6); }

  std::optional<double> dropout = {};  ///< share of the weights that is dropped at random
  std::uint64_t seed = 0;              ///< of the dropout

  std::optional<double> rope_base = {};  ///< no rotation where absent
  RopeStyle rope_style = RopeStyle::half;
  std::optional<std::size_t> rope_dim = {};  ///< the first rope_dim channels rotate; D where absent
  std::optional<long long> first_position =
      {};  ///< of the first query; the cache's length where absent

  std::string preset = {};  ///< name of the system that the settings were taken from, or ""
};

}  // namespace qkv
