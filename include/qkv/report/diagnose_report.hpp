// The report of qkv diagnose: the troubleshooting chain, stage by stage, and the faults.
#pragma once

#include <string>
#include <vector>

#include "qkv/checks/check.hpp"
#include "qkv/diagnose/diagnose.hpp"
#include "qkv/report/report.hpp"

namespace qkv {

/// One of the six steps: 1 symptom, 2 input, 3 intermediates, 4 softmax, 5 mask, 6 resources.
struct ChainStep {
  int step = 0;
  std::string title = {};
  Status status = Status::pass;
  std::string line = {};  ///< what it found, for people
  std::vector<CheckResult> checks = {};
};

struct DiagnoseReport {
  std::vector<ChainStep> chain = {};
  Diagnosis diagnosis = {};
  Status status =
      Status::pass;  ///< fail where a stage departs, a fault was found or a check failed
};

/// The six steps from what the diagnosis found and the checks on the user's own tensors.
DiagnoseReport diagnose_report(Diagnosis diagnosis, std::vector<CheckResult> checks);

std::string diagnose_text(const DiagnoseReport& report, const TextStyle& style);
std::string diagnose_json(const DiagnoseReport& report);  ///< schema qkv.diagnose/1

}  // namespace qkv
