// What sinks leave of heads that were computed without them.
#pragma once

#include "qkv/attention/problem.hpp"
#include "qkv/kernels/kernel.hpp"

namespace qkv {

/// A sink of logit s takes part in the sum of each row and stands for no value: heads become
/// heads / (1 + exp(s - lse)). Does nothing without sinks.
///
/// shape   heads and lse of the run's part; lse, of `masked` alone, stays
void settle_sinks(const Problem<float>& problem, const KernelRun& run, KernelOutput<float>& output);

}  // namespace qkv
