// Progress of trace: by stage, then the checks and the dump.
#pragma once

#include <string>
#include <vector>

#include "cli/progress.hpp"
#include "qkv/attention/sizes.hpp"
#include "qkv/attention/stage_list.hpp"

namespace qkv::cli {

/// A bar that goes from step to step. Its rate is bytes of stages, counted again by the checks and
/// by the dump, which go through them once more.
class TraceProgress {
 public:
  TraceProgress(const ConsoleOptions& options, const std::vector<StageShape>& stages,
                const Sizes& sizes, std::size_t element_size, bool dumps);

  /// The step is done, and the next begins.
  void next();

 private:
  struct Step {
    std::string name;
    double bytes = 0, time = 0;  ///< time in any unit
  };

  std::vector<Step> steps_;
  std::size_t at_ = 0;
  double bytes_ = 0, time_ = 0, whole_time_ = 0;
  Progress progress_;
};

}  // namespace qkv::cli
