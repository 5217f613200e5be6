// The troubleshooting chain: six steps from the stages and the checks.
#include "qkv/report/diagnose_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "qkv/base/text.hpp"

namespace qkv {

namespace {

bool departs(const StageFinding& stage) {
  return stage.status == StageStatus::differ || stage.status == StageStatus::shape;
}

bool given(const StageFinding& stage) { return stage.status != StageStatus::missing; }

std::string index_words(const StageFinding& stage) { return stage.id + index_text(stage.at); }

/// "out differs: 64 of 64 elements, worst 1.32 at out[0,3,5]: 0.5 where 1.82 was expected"
std::string difference(const StageFinding& stage) {
  if (stage.status == StageStatus::shape) {
    return fmt::format("{} has shape {}, expected {}", stage.id, shape_text(stage.shape_got),
                       shape_text(stage.shape_expected));
  }
  return fmt::format("{} differs: {} of {} elements, worst at {}: {} where {} was expected",
                     stage.id, stage.differing, stage.count, index_words(stage),
                     short_number(stage.got), short_number(stage.expected));
}

ChainStep symptom(const Diagnosis& diagnosis) {
  ChainStep step{.step = 1, .title = "symptom"};
  const StageFinding* last = nullptr;
  for (const StageFinding& stage : diagnosis.stages) {
    if (given(stage)) last = &stage;
  }
  if (last == nullptr) return step;
  if (departs(*last)) {
    step.status = Status::fail;
    step.line = difference(*last);
  } else if (diagnosis.first_divergence) {
    step.line = last->id + " follows from the stages before it, which do not all match";
  } else {
    step.line = last->id + " matches";
  }
  return step;
}

/// The first finding of the worst kind, or how many held.
std::string summary(const std::vector<CheckResult>& checks) {
  for (const Status status : {Status::fail, Status::warn}) {
    for (const CheckResult& check : checks) {
      if (check.status == status) return fmt::format("{}  {}", check.id, check.message);
    }
  }
  std::vector<std::string> passed;
  for (const CheckResult& check : checks) {
    if (check.status == Status::pass) passed.push_back(check.id);
  }
  return passed.empty() ? "nothing here could be checked"
                        : fmt::format("{}", fmt::join(passed, ", "));
}

ChainStep intermediates(const Diagnosis& diagnosis, std::vector<CheckResult> checks) {
  ChainStep step{.step = 3,
                 .title = "intermediates",
                 .status = worst_status(checks),
                 .checks = std::move(checks)};
  std::vector<std::string> matching;
  for (const StageFinding& stage : diagnosis.stages) {
    if (stage.status == StageStatus::match) matching.push_back(stage.id);
  }
  step.line = matching.empty() ? "" : fmt::format("{} match", fmt::join(matching, " "));
  for (const StageFinding& stage : diagnosis.stages) {
    if (!diagnosis.first_divergence || stage.id != *diagnosis.first_divergence) continue;
    step.status = Status::fail;
    step.line +=
        (step.line.empty() ? "" : "; ") + std::string("first difference: ") + difference(stage);
  }
  if (!diagnosis.first_divergence && worst_status(step.checks) != Status::pass &&
      worst_status(step.checks) != Status::skip) {
    step.line += (step.line.empty() ? "" : "; ") + summary(step.checks);
  }
  return step;
}

ChainStep from_checks(int number, std::string title, std::vector<CheckResult> checks) {
  ChainStep step{.step = number, .title = std::move(title), .status = worst_status(checks)};
  const bool all_skipped = std::ranges::all_of(
      checks, [](const CheckResult& check) { return check.status == Status::skip; });
  if (all_skipped) step.status = Status::skip;
  step.line = summary(checks);
  step.checks = std::move(checks);
  return step;
}

}  // namespace

DiagnoseReport diagnose_report(Diagnosis diagnosis, std::vector<CheckResult> checks) {
  const auto of_step = [&](int step) {
    std::vector<CheckResult> some;
    std::ranges::copy_if(checks, std::back_inserter(some),
                         [&](const CheckResult& check) { return check.step == step; });
    return some;
  };
  DiagnoseReport report;
  report.chain.push_back(symptom(diagnosis));
  report.chain.push_back(from_checks(2, "input", of_step(2)));
  report.chain.push_back(intermediates(diagnosis, of_step(3)));
  report.chain.push_back(from_checks(4, "softmax", of_step(4)));
  report.chain.push_back(from_checks(5, "mask", of_step(5)));
  report.chain.push_back(from_checks(6, "resources", of_step(6)));
  report.status = worst_status(checks);
  if (diagnosis.first_divergence || !diagnosis.faults.empty()) report.status = Status::fail;
  report.diagnosis = std::move(diagnosis);
  return report;
}

}  // namespace qkv
