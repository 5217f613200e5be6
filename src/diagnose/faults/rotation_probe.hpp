// RotationProbe: how well another rotation fits the user's tensors, on a few queries.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "qkv/diagnose/case.hpp"

namespace qkv {

/// The last few queries of one batch row, where the positions differ most, with all keys: a number
/// can be fitted with many trials for the price of a few runs of the whole.
class RotationProbe {
 public:
  explicit RotationProbe(const Case& the_case);

  /// Another rotation: of what, by what, in place of rope().
  using Rotation = std::function<Tensor<double, 4>(const Tensor<double, 4>& x,
                                                   const Tensor<double, 2>& positions,
                                                   const Problem<double>& problem)>;

  struct Trial {
    bool of_q = true, of_k = true;  ///< what the change touches
    std::function<void(Problem<double>&)> change = {};
    Rotation rotation = {};
  };

  /// Root mean square difference, relative to the user's numbers, at the first of the user's stages
  /// on which it shows: q_rope and k_rope where the trial touches them, else the first from scores
  /// on. Infinity where there is none.
  double distance(const Trial& trial) const;

  /// Whether q_rope or k_rope alone tells, so that a trial costs a few rows.
  bool sees_rotation(bool of_q, bool of_k) const;

  /// Trials that cost no more than a few runs of the whole on large inputs; at most `most`.
  std::size_t affordable(std::size_t most, bool of_q, bool of_k) const;

 private:
  class Run;

  const Case& case_;
  std::size_t first_ = 0, count_ = 0;
  Problem<double> problem_ = {};
};

/// The trial numbers in order of their distance, best first; those that tell nothing are left out.
std::vector<std::size_t> ranked(const RotationProbe& probe,
                                const std::vector<RotationProbe::Trial>& trials);

}  // namespace qkv
