// scores-scaled: the file of the scores was taken after the scale: another convention, not a
// mistake.
#include <cmath>

#include "diagnose/faults.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

std::vector<Variant> scores_scaled(const Case& the_case) {
  const double scale = the_case.problem.scale;
  if (!the_case.got.contains("scores") || scale == 1 || scale == 0 || !std::isfinite(scale))
    return {};
  const auto times = [](double factor) {
    return [factor](const Tensor<double, 4>& x) {
      auto y = x.clone();
      for (double& value : y.elements()) value *= factor;
      return y;
    };
  };
  return {{[scale, times](Alteration& a) { a.show("scores", times(scale), times(1 / scale)); },
           "your scores are q·kᵀ·" + short_number(scale) +
               ": they hold the scale already, which is another name for scaled",
           "nothing to mend if the rest matches: give that file as --got-scaled"}};
}

}  // namespace qkv::faults
