// SizeFinder: the working of find_sizes(), which needs many small questions about shapes.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "qkv/attention/sizes.hpp"
#include "qkv/base/error.hpp"
#include "qkv/base/text.hpp"

namespace qkv {

using MaybeArray = std::optional<NamedArray>;

inline const Shape& shape_of(const MaybeArray& named) { return named->array.shape; }

/// "x.npy (2,4,8)", for "expected E = 8 as in ...".
inline std::string origin(const MaybeArray& named) {
  return named->where + " " + shape_text(shape_of(named));
}

inline std::string axis_of(const MaybeArray& named, std::size_t axis, const std::string& symbol) {
  return named->where + ", axis " + std::to_string(axis) + ", " + symbol;
}

/// Finds one size after the other, and gathers complaints on the way.
class SizeFinder {
 public:
  SizeFinder(const Inputs& inputs, const Settings& settings) : in_(inputs), settings_(settings) {}

  Sizes find();

 private:
  // sizes.cpp: what both ways in share
  /// Either x (with weights) or q, k and v.
  void require_one_way_in();
  void require_weights();
  void require_groups();
  void output_weight();
  void cache();
  void one_cache(const MaybeArray& named, std::size_t width, const std::string& symbols,
                 const std::string& set_by);
  /// Sinks by head, and the gains of the normalisation.
  void extras();
  void rope();
  void require_position_shape();

  // sizes_from_x.cpp: x, context and weights
  void from_x();
  void from_context();
  /// The width that a weight makes of `in`, 0 after a complaint.
  std::size_t weight(const MaybeArray& named, const std::string& name, WeightOrder order,
                     const MaybeArray& source, std::size_t in);
  void from_fused(WeightOrder order);

  // sizes_from_qkv.cpp: q, k and v as given
  void from_qkv();
  void same_axis(const MaybeArray& named, std::size_t axis, const std::string& symbol,
                 std::size_t wanted);
  void from_rank_four();
  std::string layout_hint(const Shape& shape) const;
  void from_merged_heads(std::size_t rank);
  /// k's last axis against q's: D, or G·D where heads are merged.
  void head_width(std::size_t axis, std::size_t got, std::size_t length_axis);
  void key_count(std::size_t length_axis);
  /// Where q, k and v are equal parts of a fused width that grouped heads do not divide so.
  std::string thirds_hint(std::size_t axis) const;
  /// Where k has the axes of q the other way round.
  std::string reversed_hint() const;
  /// Where the keys are as many times too many as there are query heads to a key/value head.
  std::string repeated_hint(std::size_t length_axis) const;

  // size_finder.cpp
  void complain(std::string what, std::string where, std::string expected, std::string got,
                std::string hint = {});
  bool require_rank(const MaybeArray& named, std::initializer_list<std::size_t> ranks,
                    const std::string& expected, const std::string& hint = {});
  std::size_t split(std::size_t width, std::size_t heads, const MaybeArray& named,
                    const std::string& symbol, const std::string& flag);
  std::string kv_flag() const;
  /// Where k has fewer heads than q and --kv-heads was not given, its width tells how many.
  std::string grouped_hint(std::size_t k_width) const;
  void bias(const MaybeArray& named, const std::string& symbol, std::size_t width,
            const MaybeArray& weight);

  const Inputs& in_;
  const Settings& settings_;
  Sizes sizes_;
  Complaints complaints_;
};

}  // namespace qkv
