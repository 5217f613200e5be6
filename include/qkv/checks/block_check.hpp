// Checks of an encoder block around its attention: one claim each, as in check.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "qkv/block/problem.hpp"
#include "qkv/block/settings.hpp"
#include "qkv/checks/check.hpp"

namespace qkv {

/// What the checks of a block look at.
template <class T>
struct BlockEvidence {
  BlockSettings settings = {};
  bool has_batch = true;           ///< indices show a B axis
  double eps = 0;                  ///< of the type that the stages were rounded to
  const BlockInputs* inputs = {};  ///< the files as they came
  /// Stages without heads, (B,1,L,.), by id and in order: x, norm1, out, res1, ff1 ...
  std::vector<std::pair<std::string, Tensor<T, 4>>> stages = {};
  /// (B,L,E): what a norm was made from, and its rows before gain and bias.
  Tensor<T, 3> norm1_in = {}, norm1_rows = {}, norm2_in = {}, norm2_rows = {};

  const Tensor<T, 4>* stage(std::string_view id) const {
    for (const auto& [name, tensor] : stages)
      if (name == id) return &tensor;
    return nullptr;
  }
};

/// One row of the table of the block's checks.
struct BlockCheck {
  std::string_view id;
  int step;
  std::string_view holds;  ///< "holds when ...", for the manual
  CheckResult (*run_float)(const BlockEvidence<float>&);
  CheckResult (*run_double)(const BlockEvidence<double>&);
};

std::span<const BlockCheck> block_check_list();

/// Runs every check of the list, in order.
template <class T>
std::vector<CheckResult> run_block_checks(const BlockEvidence<T>& evidence);

}  // namespace qkv
