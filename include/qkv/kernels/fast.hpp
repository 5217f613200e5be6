// The fast path: products of bfloat16 numbers in a matrix unit, and how far that is from float32.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "qkv/kernels/kernel.hpp"

namespace qkv {

/// The kernel tiled with q, k, v and weights rounded to bfloat16 where they are multiplied, by AMX;
/// sums, logits and statistics are float32. In no list of kernels: it is no twin of the reference.
/// What bfloat16 cannot hold (NaN, infinities, numbers beyond its range) is computed in float32,
/// blocks of queries at a time.
///
/// in      "bf16", the name in --fast
/// throws  Error: another name, a problem that it does not support, or no matrix unit here
const Kernel& choose_fast_kernel(const std::string& wanted, const Sizes& sizes,
                                 const Settings& settings);

/// The same arithmetic in plain loops, far from fast, on any CPU: for tests.
const Kernel& emulated_fast_kernel();

/// What a kernel differs by from float32, in some rows of heads.
struct FastError {
  double relative_rms = 0;  ///< root of: sum of squared differences / sum of squares
  double greatest = 0;      ///< difference
  std::size_t rows = 0;     ///< that were compared
};

/// Some rows of heads as a run leaves them, to be computed again in float32.
class SampledRows {
 public:
  /// Up to 64 rows, spread over batch rows, heads and positions.
  explicit SampledRows(const Sizes& sizes);

  /// Keeps those of a part that has been computed. May be called for any part, and again.
  void keep(const Part& part, const KernelRun& run, const KernelOutput<float>& output);

  /// Computes them by the kernel tiled, with the widest instructions that there are.
  ///
  /// edge  NaN where a row is finite on one side only; two NaN are no difference
  FastError error(const Problem<float>& problem, const HeadViews& views, std::size_t threads) const;

 private:
  Sizes sizes_;
  std::vector<Part> parts_;                  ///< each of few rows, as a kernel may be given them
  std::vector<std::vector<float>> samples_;  ///< of each part, (rows, Dv) in the order of indices
};

}  // namespace qkv
