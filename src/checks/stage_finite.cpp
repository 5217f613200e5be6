// stage.finite: no stage holds NaN or +Inf, and only masked holds -Inf.
#include <string>
#include <vector>

#include "checks.hpp"
#include "non_finite.hpp"
#include "qkv/base/text.hpp"
#include "rows.hpp"
#include "stages.hpp"

namespace qkv::checks {

namespace {

std::string counts_text(const NonFinite& found) {
  std::vector<std::string> counts;
  if (found.nan > 0) counts.push_back(std::to_string(found.nan) + " NaN");
  if (found.pos_inf > 0) counts.push_back(std::to_string(found.pos_inf) + " +Inf");
  if (found.neg_inf > 0) counts.push_back(std::to_string(found.neg_inf) + " -Inf");
  return listed(counts);
}

}  // namespace

/// The first stage with a NaN, a +Inf, or a -Inf outside masked; later ones follow from it.
///
/// edge    NaN in rows that see no key is as it should be where that is their policy
template <class T>
CheckResult stage_finite(const Evidence<T>& evidence) {
  std::size_t looked = 0, meant = 0;
  for (const auto& [stage, tensor] : held_stages(evidence)) {
    if (tensor.size() == 0) continue;
    ++looked;
    const NonFinite found = non_finite_in(evidence, stage, tensor);
    meant += found.meant;
    if (found.count() == 0) continue;
    const Explanation reason = explain(evidence, stage, tensor, found);
    return CheckResult{.stage = stage,
                       .status = Status::fail,
                       .value = static_cast<double>(found.count()),
                       .limit = 0,
                       .at = stage_index(evidence, stage, found.b, found.h, found.i, found.j),
                       .message = counts_text(found) + " " +
                                  out_of(found.count(), tensor.size(), "elements") +
                                  ", the first stage that is not finite; " + reason.why,
                       .hint = reason.hint};
  }
  if (looked == 0) return skipped("stages", "no stage is held");
  CheckResult result{
      .stage = "stages",
      .status = Status::pass,
      .value = 0,
      .limit = 0,
      .message = "0 NaN or Inf out of place in " + std::to_string(looked) + " stages"};
  if (meant > 0) {
    result.message +=
        "; " + std::to_string(meant) + " NaN in rows that see no key, as --empty-rows nan asks";
  }
  return result;
}

template CheckResult stage_finite(const Evidence<float>&);
template CheckResult stage_finite(const Evidence<double>&);

}  // namespace qkv::checks
