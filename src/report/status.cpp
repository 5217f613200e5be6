// Status: the verdict of several checks together.
#include "qkv/report/report.hpp"

namespace qkv {

Status worst_status(const std::vector<CheckResult>& checks) {
  Status worst = Status::pass;
  for (const CheckResult& check : checks) {
    if (check.status == Status::fail) return Status::fail;
    if (check.status == Status::warn) worst = Status::warn;
  }
  return worst;
}

}  // namespace qkv
