// resource.memory: the stages fit into the memory limit.
#include "checks.hpp"
#include "qkv/base/text.hpp"
#include "rows.hpp"

namespace qkv::checks {

/// Bytes of all stages together against the limit, with the tensor that grows as L*S.
template <class T>
CheckResult resource_memory(const Evidence<T>& evidence) {
  const Sizes& sizes = evidence.sizes;
  if (!(evidence.stage_bytes > 0)) return skipped("stages", "needs the sizes of the stages");
  const std::string largest = evidence.largest_stage.empty() ? "scores" : evidence.largest_stage;
  const std::size_t element = size_of(dtype_of(evidence.settings.arithmetic, dtype_of<T>()));
  const double scores_bytes = static_cast<double>(sizes.B * sizes.H * sizes.L * sizes.S * element);

  CheckResult result{.stage = largest,
                     .status = Status::pass,
                     .value = evidence.stage_bytes,
                     .message = "stages take " + bytes_text(evidence.stage_bytes)};
  if (evidence.memory_limit > 0 && evidence.memory_limit_given) {
    result.limit = evidence.memory_limit;
    result.message += " of " + bytes_text(evidence.memory_limit);
  } else if (evidence.memory_limit > 0) {
    // The same input must print the same bytes, whatever else the machine is doing.
    result.message += " of 80 % of the free memory";
  }
  if (evidence.largest_bytes > 0) {
    result.message += ", the largest is " + largest + " with " + bytes_text(evidence.largest_bytes);
  }
  result.message += "; scores to attn, " + bytes_text(scores_bytes) +
                    " each, grow as L*S: twice the length, four times the bytes";
  if (evidence.memory_limit <= 0) {
    result.status = Status::skip;
    result.message += "; needs a memory limit to hold them against";
  } else if (!(evidence.stage_bytes <= evidence.memory_limit)) {
    result.status = Status::fail;
    result.hint = "qkv run holds no (L,S) tensor; or take a smaller batch or a shorter length";
  }
  return result;
}

template CheckResult resource_memory(const Evidence<float>&);
template CheckResult resource_memory(const Evidence<double>&);

}  // namespace qkv::checks
