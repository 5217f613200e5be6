// The table of the block's checks, and running them.
#include <array>
#include <type_traits>

#include "block_checks.hpp"

namespace qkv {

namespace {

constexpr std::array<BlockCheck, 3> checks_in_order = {{
    {"block.finite", 3,
     "no weight of the norms and the feed-forward, and no stage, holds NaN or Inf",
     checks::block_finite, checks::block_finite},
    {"block.norm", 3,
     "each row of norm1 and norm2 has mean 0 and variance 1 before the gain, or mean square 1 "
     "(rms)",
     checks::block_norm, checks::block_norm},
    {"block.residual", 3,
     "res1 is x + out, and res2 is res1 + ff2 (pre) or norm1 + ff2 (post), element by element",
     checks::block_residual, checks::block_residual},
}};

}  // namespace

std::span<const BlockCheck> block_check_list() { return checks_in_order; }

template <class T>
std::vector<CheckResult> run_block_checks(const BlockEvidence<T>& evidence) {
  std::vector<CheckResult> results;
  for (const BlockCheck& check : block_check_list()) {
    CheckResult result;
    if constexpr (std::is_same_v<T, float>) {
      result = check.run_float(evidence);
    } else {
      result = check.run_double(evidence);
    }
    result.id = check.id;
    result.step = check.step;
    results.push_back(std::move(result));
  }
  return results;
}

template std::vector<CheckResult> run_block_checks(const BlockEvidence<float>&);
template std::vector<CheckResult> run_block_checks(const BlockEvidence<double>&);

}  // namespace qkv
