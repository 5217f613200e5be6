// diagnose(): the first stage that departs, and the mistakes that make exactly these numbers.
#include "qkv/diagnose/diagnose.hpp"

#include <algorithm>

#include "diagnose/faults.hpp"
#include "diagnose/search.hpp"
#include "diagnose/try_out.hpp"

namespace qkv {

std::string_view name(StageStatus status) {
  switch (status) {
    case StageStatus::match:
      return "match";
    case StageStatus::differ:
      return "differ";
    case StageStatus::missing:
      return "missing";
    case StageStatus::shape:
      break;
  }
  return "shape";
}

Diagnosis diagnose(const Case& the_case, const OnProgress& on_progress, std::size_t threads) {
  Diagnosis diagnosis;
  const std::vector<StageFinding> reference = try_out(the_case, {.problem = the_case.problem});
  for (const StageShape& stage : the_case.stages) {
    const auto found = std::ranges::find(reference, stage.id, &StageFinding::id);
    StageFinding finding = found == reference.end() ? StageFinding{.id = stage.id} : *found;
    if (finding.status == StageStatus::shape) finding.shape_expected = stage.shape;
    const bool departs =
        finding.status == StageStatus::differ || finding.status == StageStatus::shape;
    if (departs && !diagnosis.first_divergence) diagnosis.first_divergence = stage.id;
    diagnosis.stages.push_back(std::move(finding));
  }
  if (diagnosis.first_divergence) {
    diagnosis.faults = search_faults(the_case, reference, on_progress, threads);
  } else if (const auto finding = faults::nan_behind_mask_finding(the_case)) {
    diagnosis.faults.push_back(*finding);
  }
  diagnosis.blind = blind_spots(the_case);
  return diagnosis;
}

}  // namespace qkv
