// Evidence: what trace holds, in the form that the checks look at.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/common_options.hpp"
#include "qkv/attention/pipeline.hpp"
#include "qkv/checks/check.hpp"

namespace qkv::cli {

/// The stages that were held, with the rules and files they came from. `problem` and `request` must
/// outlive it.
template <class T>
Evidence<T> trace_evidence(const Problem<T>& problem, const Request& request,
                           const std::vector<std::pair<std::string, Tensor<T, 4>>>& held,
                           const Attended<T>& attended) {
  Evidence<T> evidence;
  evidence.sizes = problem.sizes;
  evidence.settings = problem.settings;
  evidence.inputs = &request.inputs;
  const DType dtype = dtype_of(problem.settings.arithmetic, dtype_of<T>());
  evidence.eps = epsilon(dtype);
  evidence.own = true;
  evidence.x = problem.x;
  evidence.v = attended.present_v;
  evidence.stages = held;
  const std::pair<const char*, Tensor<T, 4>*> roles[] = {
      {"q", &evidence.q},           {"k", &evidence.k},           {"scores", &evidence.scores},
      {"scaled", &evidence.scaled}, {"capped", &evidence.capped}, {"masked", &evidence.masked},
      {"attn", &evidence.attn},     {"heads", &evidence.heads}};
  for (const auto& [id, tensor] : held) {
    for (const auto& [role, target] : roles) {
      if (id == role) *target = tensor;
    }
    const auto bytes = static_cast<double>(tensor.size() * size_of(dtype));
    evidence.stage_bytes += bytes;
    if (bytes > evidence.largest_bytes) {
      evidence.largest_bytes = bytes;
      evidence.largest_stage = id;
    }
  }
  // One head without W_O: out is attn·v itself.
  if (evidence.heads.empty()) evidence.heads = attended.out;
  evidence.sinks = problem.sinks;
  evidence.visibility = &problem.visibility;
  evidence.memory_limit = request.memory_limit;
  evidence.memory_limit_given = request.memory_limit_given;
  return evidence;
}

}  // namespace qkv::cli
