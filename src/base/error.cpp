// Error: the one line that a complaint becomes.
#include "qkv/base/error.hpp"

#include <utility>

namespace qkv {

std::string text(const Complaint& complaint) {
  std::string line = complaint.what;
  if (!complaint.where.empty()) line += " (" + complaint.where + ")";
  if (!complaint.expected.empty()) line += ": expected " + complaint.expected;
  if (!complaint.got.empty())
    line += (complaint.expected.empty() ? ": got " : ", got ") + complaint.got;
  return line;
}

Error::Error(Complaint complaint) : Error(std::vector<Complaint>{std::move(complaint)}) {}

Error::Error(std::vector<Complaint> complaints) : complaints_(std::move(complaints)) {
  first_line_ = complaints_.empty() ? "unknown error" : text(complaints_.front());
}

}  // namespace qkv
