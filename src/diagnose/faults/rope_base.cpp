// Fault rope-base: the rotation uses another base.
#include <cmath>

#include "diagnose/faults.hpp"
#include "diagnose/faults/rotation_probe.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

/// Bases of published models, and slips of a digit.
constexpr double known[] = {1e4, 5e5, 1e6, 1e5, 1e3, 1e2, 5e4, 1.5e5, 2.5e5, 5e6, 1e7, 2e6, 1e1};

class BaseFit {
 public:
  explicit BaseFit(const Case& the_case) : probe_(the_case) {}

  /// The base that fits best, 0 where no tensor tells.
  double fit() {
    consider(known, std::size(known));
    if (!std::isfinite(best_distance_)) return 0;
    // Float32 angles at a few thousand positions are good to about this.
    constexpr double as_good_as_exact = 1e-5;
    constexpr std::size_t scanned = 65, steps = 50;
    if (best_distance_ < as_good_as_exact) return best_;
    if (probe_.affordable(scanned + steps, true, true) < scanned + steps) return best_;
    // An angle changes by at most a few hundredths of its position when the base grows by a
    // quarter of its logarithm: the valley of the right one is as wide at moderate positions.
    double grid[scanned];
    for (std::size_t n = 0; n < scanned; ++n)
      grid[n] = std::exp(std::log(10.0) + 0.25 * static_cast<double>(n));
    consider(grid, scanned);
    refine(steps);
    return best_;
  }

 private:
  double distance(double base) const {
    return probe_.distance(
        {.change = [base](Problem<double>& problem) { problem.settings.rope_base = base; }});
  }

  void consider(const double* bases, std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) {
      const double found = distance(bases[n]);
      if (!(found < best_distance_)) continue;
      best_distance_ = found;
      best_ = bases[n];
    }
  }

  /// Golden section in the logarithm, then the nearest number of three digits if it fits as well.
  void refine(std::size_t steps) {
    const double golden = (std::sqrt(5.0) - 1) / 2;
    double low = std::log(best_) - 0.25, high = std::log(best_) + 0.25;
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double at_left = distance(std::exp(left)), at_right = distance(std::exp(right));
    for (std::size_t step = 0; step < steps; ++step) {
      if (at_left < at_right) {
        high = right, right = left, at_right = at_left;
        left = high - golden * (high - low);
        at_left = distance(std::exp(left));
      } else {
        low = left, left = right, at_left = at_right;
        right = low + golden * (high - low);
        at_right = distance(std::exp(right));
      }
    }
    const double fitted = std::exp((low + high) / 2);
    const double digit = std::pow(10, std::floor(std::log10(fitted)) - 2);
    const double rounded = std::round(fitted / digit) * digit;
    const double bases[] = {fitted};
    consider(bases, 1);
    if (distance(rounded) <= 2 * best_distance_) best_ = rounded;
  }

  RotationProbe probe_;
  double best_ = 0, best_distance_ = HUGE_VAL;
};

}  // namespace

std::vector<Variant> rope_base(const Case& the_case) {
  const Settings& settings = the_case.problem.settings;
  if (!settings.rope_base) return {};
  const double base = BaseFit(the_case).fit();
  if (base == 0 || base == *settings.rope_base) return {};
  Variant made;
  made.apply = [base](Alteration& a) { a.problem.settings.rope_base = base; };
  made.message = "your q and k are rotated with base " + short_number(base) + ", not " +
                 short_number(*settings.rope_base);
  made.fix = "use base " + number_text(*settings.rope_base) + ", or say --rope " +
             number_text(base) + " if that is the model's";
  return {made};
}

}  // namespace qkv::faults
