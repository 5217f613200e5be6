// block.finite: no weight of the norms and the feed-forward, and no stage, holds NaN or Inf.
#include <cmath>
#include <optional>
#include <string>

#include "block_checks.hpp"
#include "given.hpp"
#include "qkv/base/text.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

std::size_t non_finite_in(const NamedArray& named) {
  std::size_t count = 0;
  if (!is_float(named.array.dtype)) return 0;
  for_each_piece(named.array, [&](std::size_t, std::span<const double> piece) {
    for (const double value : piece) count += std::isfinite(value) ? 0 : 1;
  });
  return count;
}

/// The weights that hold NaN or Inf, as "ff_w1.npy (3)".
std::vector<std::string> bad_weights(const BlockInputs* inputs) {
  std::vector<std::string> bad;
  if (inputs == nullptr) return bad;
  for (const auto* weight :
       {&inputs->norm1_w, &inputs->norm1_b, &inputs->ff_w1, &inputs->ff_b1, &inputs->ff_w3,
        &inputs->ff_w2, &inputs->ff_b2, &inputs->norm2_w, &inputs->norm2_b}) {
    if (!*weight) continue;
    const std::size_t count = non_finite_in(**weight);
    if (count > 0) bad.push_back((*weight)->where + " (" + std::to_string(count) + ")");
  }
  return bad;
}

}  // namespace

/// The first stage with a NaN or an Inf; those after it follow from it.
template <class T>
CheckResult block_finite(const BlockEvidence<T>& evidence) {
  const std::vector<std::string> bad = bad_weights(evidence.inputs);
  for (const auto& [stage, tensor] : evidence.stages) {
    std::size_t count = 0;
    CheckResult result{.stage = stage, .status = Status::fail, .limit = 0};
    for_each_row(tensor, [&](std::size_t b, std::size_t, std::size_t i, std::span<const T> row) {
      for (std::size_t e = 0; e < row.size(); ++e) {
        if (std::isfinite(row[e])) continue;
        if (count++ == 0) result.at = block_index(evidence, b, i, e);
      }
    });
    if (count == 0) continue;
    result.value = static_cast<double>(count);
    result.message = "NaN or Inf " + out_of(count, tensor.size(), "elements") +
                     ", the first stage that is not finite" +
                     (bad.empty() ? "" : "; so are weights: " + listed(bad));
    if (!bad.empty()) result.hint = "mend these weights first";
    return result;
  }
  if (!bad.empty()) {
    return {.stage = "weights",
            .status = Status::fail,
            .value = static_cast<double>(bad.size()),
            .limit = 0,
            .message = "not finite: " + listed(bad),
            .hint = "mend these weights first"};
  }
  if (evidence.stages.empty()) return skipped("stages", "no stage is held");
  return {.stage = "stages",
          .status = Status::pass,
          .value = 0,
          .limit = 0,
          .message = "0 NaN or Inf in " + std::to_string(evidence.stages.size()) +
                     " stages around the attention"};
}

template CheckResult block_finite(const BlockEvidence<float>&);
template CheckResult block_finite(const BlockEvidence<double>&);

}  // namespace qkv::checks
