// Ranking: which of the mistakes that explain a stage are named, and in which order.
#include "diagnose/ranking.hpp"

#include <algorithm>
#include <cmath>

#include "diagnose/fault_kinds.hpp"

namespace qkv {

namespace {

/// Coarse types let through what is only near: half of what rounding may do at most, where
/// another mistake leaves a sixth, is another mistake's numbers.
void drop_worse(std::vector<Accepted>& accepted) {
  double least = HUGE_VAL;
  for (const Accepted& one : accepted) least = std::min(least, one.residual);
  std::erase_if(accepted, [&](const Accepted& one) {
    return one.residual > 0.5 && one.residual > 3 * least;
  });
}

}  // namespace

std::vector<Accepted> best(std::vector<Accepted> accepted) {
  const auto specific = [](const Accepted& one) { return !generic(*one.faults.front()); };
  if (std::ranges::any_of(accepted, specific))
    std::erase_if(accepted, [&](const Accepted& one) { return !specific(one); });
  std::size_t most = 0;
  for (const Accepted& one : accepted) most = std::max(most, one.explains.size());
  std::erase_if(accepted, [&](const Accepted& one) { return one.explains.size() < most; });
  drop_worse(accepted);
  std::stable_partition(accepted.begin(), accepted.end(),
                        [](const Accepted& one) { return !one.refuted; });
  return accepted;
}

void report(const std::vector<Accepted>& accepted, std::vector<FoundFault>& found) {
  const Accepted& first = accepted.front();
  for (std::size_t n = 0; n < first.faults.size(); ++n) {
    FoundFault fault{.id = std::string(first.faults[n]->id),
                     .stage = std::string(first.faults[n]->stage),
                     .residual = first.left,
                     .explains = first.explains};
    fault.message = first.variants[n]->message;
    fault.fix = first.variants[n]->fix;
    // One of a pair may have been found before, alone or with another.
    const auto before = std::ranges::find_if(found, [&](const FoundFault& other) {
      return other.id == fault.id && other.message.starts_with(fault.message);
    });
    if (before != found.end()) {
      for (const std::string& stage : fault.explains) {
        if (std::ranges::find(before->explains, stage) == before->explains.end())
          before->explains.push_back(stage);
      }
      continue;
    }
    if (first.faults.size() == 2)
      fault.message += "; together with " + std::string(first.faults[1 - n]->id) +
                       ": neither alone makes these numbers";
    for (std::size_t other = 1; other < accepted.size() && first.faults.size() == 1; ++other) {
      const std::string id(accepted[other].faults.front()->id);
      if (id != fault.id && std::ranges::find(fault.ties, id) == fault.ties.end())
        fault.ties.push_back(id);
    }
    found.push_back(std::move(fault));
  }
}

}  // namespace qkv
