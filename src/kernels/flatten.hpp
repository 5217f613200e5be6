// flatten(): a problem as the pointers and strides that the fast kernels work on.
#pragma once

#include "kernels/simd/flat_problem.hpp"
#include "qkv/kernels/kernel.hpp"

namespace qkv {

/// True for what the fast kernels compute: no axis is empty, and positions fit 30 bits.
bool is_flat(const Sizes& sizes);

/// The sizes alone, no pointers.
FlatProblem flat_sizes(const Sizes& sizes);

/// Pointers into the problem, the inputs and the output, which must outlive the result.
FlatProblem flatten(const Problem<float>& problem, const QueryKeyValue<float>& qkv,
                    KernelOutput<float>& output);

/// heads (B,H,L,Dv) and, where wanted or needed for the sinks, lse (B,H,L), zero so far.
KernelOutput<float> make_output(const Problem<float>& problem, bool wants_lse);

}  // namespace qkv
