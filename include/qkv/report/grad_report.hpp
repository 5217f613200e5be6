// The backward pass as plain data: a row per gradient, what was found, and the comparison with
// differences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "qkv/report/report.hpp"

namespace qkv {

struct GradRow {
  std::string of;  ///< "wq"
  Shape shape;
  double norm = 0, max_abs = 0;  ///< over the finite values
  std::size_t nan = 0, inf = 0;
};

/// One gradient beside central differences; status skip where no element could be compared.
struct GradCheckRow {
  std::string of;
  std::optional<double> max_rel = {}, limit = {};
  Status status = Status::skip;
  std::size_t checked = 0, count = 0;  ///< elements
  std::string worst = {};  ///< where it failed: "wq[3,1] is 0.5, the difference quotient 0.25"
};

struct GradClip {
  double max_norm = 0;
  double norm = 0;  ///< before
  double factor = 1;
  std::vector<std::string> of = {};
};

struct GradReport {
  std::string headline;
  std::vector<GradRow> grads;
  std::vector<CheckResult> findings = {};  ///< id, stage, status, message and hint
  std::optional<GradClip> clip = {};
  std::vector<GradCheckRow> check = {};  ///< empty where not asked for
};

Status worst_status(const GradReport& report);

std::string grad_text(const GradReport& report, const TextStyle& style);
std::string grad_json(const GradReport& report);  ///< schema qkv.grad/1

}  // namespace qkv
