// The scale in words: what it should be, and how to put it right.
#include "scale_words.hpp"

#include <cmath>

#include "qkv/base/text.hpp"

namespace qkv::faults {

std::string scaling_words(const Problem<double>& problem) {
  const Settings& settings = problem.settings;
  if (settings.scale) return "the factor " + short_number(*settings.scale);
  if (settings.temperature)
    return "the division by the temperature " + short_number(*settings.temperature);
  return "the division by √D";
}

std::string how_to_scale(const Problem<double>& problem) {
  const Settings& settings = problem.settings;
  if (settings.scale) return "multiply scores by " + short_number(*settings.scale);
  if (settings.temperature)
    return "divide scores by the temperature " + short_number(*settings.temperature);
  const auto D = static_cast<double>(problem.sizes.D);
  return "divide scores by sqrt(" + short_number(D) + ") = " + short_number(std::sqrt(D));
}

bool same_scale(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }

}  // namespace qkv::faults
