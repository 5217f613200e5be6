// Sampled rows: some queries that have keys hidden beside ones they see, for fitting a number to
// the user's tensors without running the whole computation again and again.
#pragma once

#include <cstddef>
#include <vector>

#include "diagnose/faults/rules.hpp"
#include "qkv/attention/pipeline.hpp"
#include "qkv/diagnose/case.hpp"

namespace qkv::faults {

enum class Sight : std::uint8_t {
  seen,
  hidden,  ///< by the rules in question
  never    ///< by others, which are as they should be
};

/// One query of one head.
struct SampledRow {
  std::size_t b = 0, h = 0, i = 0;
  std::vector<double> x;  ///< its scores before the mask, with what the mask adds to visible ones
  std::vector<Sight> sight;
};

/// Rows of all heads of at most `most` queries, evenly spaced among those that have a key hidden by
/// the rules beside one that they see. The scores are those of the user where they were given, else
/// made from the user's q and k, else from the right ones.
class SampledRows {
 public:
  SampledRows(const Case& the_case, const RuleSet& rules, std::size_t most);

  const std::vector<SampledRow>& rows() const { return rows_; }
  std::size_t heads() const { return case_.problem.sizes.H; }
  /// The values of a row's head, with the cache in front: (S,Dv) at (b,h).
  std::span<const double> value(const SampledRow& row, std::size_t j) const;
  /// The user's stage, by head, or none.
  const Tensor<double, 4>* got(const char* id) const;

 private:
  std::vector<double> scores_of(std::size_t b, std::size_t h, std::size_t i) const;

  const Case& case_;
  QueryKeyValue<double> made_;
  std::vector<SampledRow> rows_;
};

}  // namespace qkv::faults
