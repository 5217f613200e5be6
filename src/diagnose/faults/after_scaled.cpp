// feed_after_scaled(): lets the step after the scale work on another tensor.
#include "after_scaled.hpp"

#include <utility>

#include "qkv/attention/mask.hpp"
#include "qkv/attention/softcap.hpp"
#include "qkv/attention/softmax.hpp"

namespace qkv::faults {

void feed_after_scaled(Alteration& alteration,
                       std::function<Tensor<double, 4>(const Held&)> other) {
  const Problem<double>& problem = alteration.problem;
  if (problem.settings.softcap) {
    alteration.edit("capped", [from = std::move(other)](const Held& held, const auto&) {
      return softcap(from(held), *held.problem().settings.softcap);
    });
  } else if (problem.visibility.any()) {
    alteration.edit("masked", [from = std::move(other)](const Held& held, const auto&) {
      return mask(from(held), held.problem().visibility);
    });
  } else {
    alteration.edit("attn", [from = std::move(other)](const Held& held, const auto&) {
      return softmax(from(held), held.problem().settings.empty_rows, held.problem().sinks);
    });
  }
}

}  // namespace qkv::faults
