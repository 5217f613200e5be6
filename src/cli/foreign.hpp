// Foreign tensors: stages that another program made, any subset, brought to the axes that checks
// look at.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cli/common_options.hpp"
#include "qkv/checks/check.hpp"
#include "qkv/report/report.hpp"

namespace qkv::cli {

struct Foreign {
  Evidence<double> evidence = {};
  std::shared_ptr<const Visibility<double>> visibility = {};  ///< what the evidence points to
  DType coarsest = DType::float64;  ///< of the stages, or of q, k and v where there is no stage
  std::vector<StageRow> rows = {};  ///< the tensors, as they came
};

/// The options that name a stage: "attn", "heads-out" (the stage heads).
void add_stage_options(CLI::App& app, CommonOptions& options);

/// Finds every size from the tensors and flags that were given, and reads the rules. Tensors of
/// rank 2 are (L,.), of rank 3 (B,L,.), of rank 4 (B,H,L,.). Where no rule is given but masked is,
/// what it has at -Inf is what is hidden. `request` must outlive the result.
///
/// throws  Error naming every axis that does not fit, and what set the size it should have had
Foreign read_foreign(const Request& request, std::optional<std::size_t> d_k);

}  // namespace qkv::cli
