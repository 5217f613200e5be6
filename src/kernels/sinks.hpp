// What sinks leave of heads that were computed without them.
#pragma once

#include "qkv/attention/problem.hpp"
#include "qkv/kernels/kernel.hpp"

namespace qkv {

/// A sink of logit s takes part in the sum of each row and stands for no value: heads become
/// heads / (1 + exp(s - lse)). Does nothing without sinks.
///
/// shape   output.heads (B,H,L,Dv) and output.lse (B,H,L), of `masked` alone, as it stays
void settle_sinks(const Problem<float>& problem, KernelOutput<float>& output);

}  // namespace qkv
