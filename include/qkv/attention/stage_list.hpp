// The stages: id, formula, axes and source of each, in the order of the computation.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "qkv/attention/inputs.hpp"
#include "qkv/attention/settings.hpp"
#include "qkv/attention/sizes.hpp"
#include "qkv/tensor/shape.hpp"

namespace qkv {

struct StageInfo {
  std::string_view id;       ///< "scaled": the name in --print, --dump, JSON and the man page
  std::string_view formula;  ///< "q*k^T" in the words of the manual
  std::string_view meaning;  ///< one sentence for the manual
};

/// All stages that there are, in order.
std::span<const StageInfo> stage_list();

/// One stage of one particular computation: what it will be called, made from and shaped like.
struct StageShape {
  std::string id;
  std::string is;  ///< the formula with this configuration's names and numbers: "scores·0.5"
  Shape shape;     ///< as shown: without the axes that the input did not have
  std::vector<std::string> dims;  ///< "B", "H", "L", "S" ... one per axis of shape
};

/// The stages that this configuration has, in order, from shapes alone.
std::vector<StageShape> stage_shapes(const Inputs& inputs, const Settings& settings,
                                     const Sizes& sizes);

/// True where some rule hides keys or adds to scores, so that there is a stage `masked`.
bool has_masked_stage(const Inputs& inputs, const Settings& settings);

}  // namespace qkv
