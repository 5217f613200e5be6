// Progress of trace: how long each step takes, compared with the others.
#include "cli/trace_progress.hpp"

#include "cli/memory.hpp"

namespace qkv::cli {

namespace {

/// Products that are summed up for each number of a stage.
std::size_t terms(const StageShape& stage, const Sizes& sizes) {
  if (stage.id == "q" || stage.id == "k" || stage.id == "v") return sizes.projects ? sizes.E : 0;
  if (stage.id == "scores") return sizes.D;
  const bool alone = sizes.H == 1 && !sizes.has_wo && !sizes.rank_four;
  if (stage.id == "heads" || (stage.id == "out" && alone)) return sizes.S;
  return stage.id == "out" && sizes.has_wo ? sizes.H * sizes.Dv : 0;
}

}  // namespace

TraceProgress::TraceProgress(const ConsoleOptions& options, const std::vector<StageShape>& stages,
                             const Sizes& sizes, std::size_t element_size, bool dumps)
    : progress_(options, stages.front().id, bytes_rate) {
  // A product makes some fifty multiply-adds in the time that another step makes a number.
  constexpr double at_once = 50;
  double all_bytes = 0, numbers = 0;
  for (const StageShape& stage : stages) {
    const double bytes = stage_bytes(stage, sizes, element_size);
    const double elements = bytes / static_cast<double>(element_size);
    steps_.push_back(
        {stage.id, bytes, elements * (1 + static_cast<double>(terms(stage, sizes)) / at_once)});
    all_bytes += bytes;
    numbers += elements;
  }
  steps_.push_back({"checks", all_bytes, numbers});
  if (dumps) steps_.push_back({"writing", all_bytes, numbers});
  for (const Step& step : steps_) whole_time_ += step.time;
}

void TraceProgress::next() {
  if (at_ + 1 >= steps_.size()) return;
  bytes_ += steps_[at_].bytes;
  time_ += steps_[at_].time;
  ++at_;
  progress_.begin(steps_[at_].name, time_ / whole_time_, bytes_);
}

}  // namespace qkv::cli
