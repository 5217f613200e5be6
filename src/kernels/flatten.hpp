// A problem as pointers and strides.
#pragma once

#include <array>
#include <memory>

#include "kernels/simd/flat_problem.hpp"
#include "qkv/kernels/kernel.hpp"

namespace qkv {

/// No axis is empty, and each is short enough for 32-bit key numbers.
bool is_flat(const Sizes& sizes);

/// True where a fast kernel can read the array as it lies.
bool is_readable(const Array& array);

/// The sizes alone.
FlatProblem flat_sizes(const Sizes& sizes);

/// The problem as a fast kernel sees it, with heads (and lse) to write to.
///
/// throws  Error when there is no memory for what is written
class Flattened {
 public:
  Flattened(const Problem<float>& problem, const HeadViews& views, const KernelRun& run);

  Part part;
  FlatProblem flat;
  KernelOutput<float> output;

 private:
  std::array<std::shared_ptr<const void>, 3> owners_;  ///< of q, k and v that were converted
};

}  // namespace qkv
