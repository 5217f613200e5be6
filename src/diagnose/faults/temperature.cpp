// temperature: the temperature that was asked for is not the one in use.
#include <cmath>

#include "diagnose/faults.hpp"
#include "fitted_scale.hpp"
#include "qkv/base/text.hpp"
#include "scale_words.hpp"
#include "wrong_factor.hpp"

namespace qkv::faults {

namespace {

/// Significant digits of the shortest number that may be meant, 4 for any longer one.
int digits_of(const FittedNumber& fitted) {
  for (int digits = 1; digits < 4; ++digits) {
    const double unit = std::pow(10, std::floor(std::log10(fitted.value)) - (digits - 1));
    if (fitted.may_be(std::round(fitted.value / unit) * unit)) return digits;
  }
  return 4;
}

}  // namespace

std::vector<Variant> temperature(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  // --scale wins over --temperature.
  if (!problem.settings.temperature || problem.settings.scale) return {};
  const double wanted = *problem.settings.temperature,
               root = std::sqrt(static_cast<double>(problem.sizes.D));
  std::vector<Variant> variants;
  if (!same_scale(root, 1)) {
    wrong_factor(the_case, 1 / root, "divided by sqrt(D) = " + short_number(root), variants);
    wrong_factor(the_case, 1 / (wanted * root),
                 "divided by the temperature and by sqrt(D) = " + short_number(root) + " as well",
                 variants);
  }
  // A number that somebody typed: as a temperature where it is short, unless its inverse, the
  // factor, is shorter still.
  const std::optional<FittedNumber> factor = fitted_scale(the_case);
  if (!factor || !(factor->value > 0) || factor->may_be(problem.scale)) return variants;
  const double inverse = 1 / factor->value;
  const FittedNumber divisor = {.value = inverse, .error = factor->error * inverse / factor->value};
  if (digits_of(divisor) == 4 || digits_of(*factor) < digits_of(divisor)) return variants;
  wrong_factor(the_case, factor->value, "divided by a temperature of " + short_number(inverse),
               variants);
  return variants;
}

}  // namespace qkv::faults
