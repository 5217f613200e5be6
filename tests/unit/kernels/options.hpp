// The options of attention, each as a change to a problem, to be tried alone and in pairs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "unit/kernels/twins.hpp"

namespace qkv::test {

struct TwinOption {
  std::string name;
  std::function<void(TwinCase&)> apply;
};

/// Every option of the pipeline between q, k, v and heads; the first changes nothing.
std::vector<TwinOption> twin_options();

/// Many queries, for blocks of them, or few against many keys, for chunks of those.
enum class Queries { many, few };
constexpr Queries both_kinds[] = {Queries::many, Queries::few};

/// A problem whose sizes all differ, neither L nor S a multiple of any block, with those options.
TwinCase with_options(const std::vector<TwinOption>& options, Queries queries = Queries::many);

}  // namespace qkv::test
