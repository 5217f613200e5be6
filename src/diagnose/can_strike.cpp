// Whether a fault can strike at all: the option that it is about is in use.
#include "diagnose/can_strike.hpp"

#include "diagnose/faults/rules.hpp"

namespace qkv {

bool can_strike(const std::string& id, const Problem<double>& problem) {
  const Settings& settings = problem.settings;
  const Visibility<double>& visibility = problem.visibility;
  const faults::RuleSet masks = faults::masks_of(visibility);
  if (id.starts_with("rope-")) return settings.rope_base.has_value();
  if (id == "alibi-slope") return settings.alibi;
  if (id == "sink-missing") return !problem.sinks.empty();
  if (id == "qk-norm-missing") return settings.qk_norm.has_value();
  if (id.starts_with("softcap-")) return settings.softcap.has_value();
  if (id == "temperature") return settings.temperature.has_value();
  if (id == "mask-transposed" || id == "mask-axis" || id == "mask-head-order" ||
      id == "mask-missing") {
    return masks.count() > 0 && (id != "mask-transposed" || masks.mask);
  }
  if (id == "padding-on-queries") return masks.padding || masks.lengths;
  if (id.starts_with("mask-") || id.starts_with("empty-rows-")) return visibility.any();
  if (id == "window-off-by-one") return visibility.window.has_value();
  if (id.starts_with("causal-") && id != "causal-align") return visibility.causal;
  return true;
}

}  // namespace qkv
