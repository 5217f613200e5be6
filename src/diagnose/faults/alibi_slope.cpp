// alibi-slope: the linear biases of the scores have other slopes than the recipe's.
#include <bit>
#include <cmath>

#include "diagnose/faults.hpp"
#include "yours.hpp"

namespace qkv::faults {

namespace {

using Slopes = std::vector<double>;

/// 2^exponent(h), for each head.
template <class Exponent>
Slopes powers(std::size_t H, const Exponent& exponent) {
  Slopes slopes(H);
  for (std::size_t h = 0; h < H; ++h) slopes[h] = std::exp2(exponent(static_cast<double>(h)));
  return slopes;
}

Slopes times(Slopes slopes, double factor) {
  for (double& slope : slopes) slope *= factor;
  return slopes;
}

/// The biases that `bias` makes of slope, query position and key in place of -slope*distance.
StageEdit biased(double (*bias)(double slope, double position, double key)) {
  return [bias](const Held& held, const Tensor<double, 4>& right) {
    const Visibility<double>& rules = held.problem().visibility;
    auto made = right.clone();
    if (right.size(1) > rules.slopes.size() || right.size(0) > rules.slope_offset.size())
      return made;
    for (std::size_t b = 0; b < made.size(0); ++b) {
      for (std::size_t h = 0; h < made.size(1); ++h) {
        for (std::size_t i = 0; i < made.size(2); ++i) {
          const double position =
              static_cast<double>(static_cast<long long>(i) + rules.slope_offset[b]);
          for (std::size_t j = 0; j < made.size(3); ++j) {
            if (rules.hidden(b, h, i, j)) continue;
            const auto key = static_cast<double>(j);
            made(b, h, i, j) +=
                rules.slopes[h] * std::abs(position - key) + bias(rules.slopes[h], position, key);
          }
        }
      }
    }
    return made;
  };
}

}  // namespace

std::vector<Variant> alibi_slope(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  const Slopes& right = problem.visibility.slopes;
  if (!problem.settings.alibi || right.empty()) return {};
  const std::size_t H = right.size();
  const auto n = static_cast<double>(std::bit_floor(H)), all = static_cast<double>(H);
  const std::string begins = yours(the_case, "masked") + " made with ";
  const std::string recipe =
      "head h of n, a power of two, has the slope 2^(-8(h+1)/n); heads beyond it 2^(-4(2k+1)/n)";
  std::vector<Variant> variants;
  const auto with = [&](const Slopes& slopes, const std::string& words, const std::string& fix) {
    variants.push_back(
        {[slopes](Alteration& a) { a.problem.visibility.slopes = slopes; }, begins + words, fix});
  };
  with(Slopes(H, 0.0), "no linear biases", "add -slope·|i-j| to the scores before the softmax");
  with(powers(H, [n](double h) { return -8 * h / n; }),
       "slopes that begin at 2^0: the exponent counts heads from 0",
       "count heads from 1 in the exponent: " + recipe);
  if (n != all) {
    with(powers(H, [all](double h) { return -8 * (h + 1) / all; }),
         "slopes 2^(-8(h+1)/H) though H is no power of two", recipe);
  }
  with(times(right, -1), "biases of the other sign: they grow with the distance",
       "take slope·distance away from the scores: far keys count less");
  with(times(right, problem.scale), "biases that are scaled too: they were added before the scale",
       "add the biases after the scale");
  with(Slopes(right.rbegin(), right.rend()), "the slopes of the heads in reverse", recipe);
  with(Slopes(H, 1.0), "a slope of 1 in every head", recipe);
  const std::string distance = "take slope·|i-j| away, from the query's own position i";
  variants.push_back(
      {[](Alteration& a) {
         a.edit("masked", biased([](double slope, double, double key) { return slope * key; }));
       },
       begins + "biases slope·j of the key alone: a row-constant difference, which "
                "the softmax does not see where later keys are hidden",
       "nothing to mend where the causal rule is on; else " + distance});
  variants.push_back({[](Alteration& a) {
                        a.edit("masked", biased([](double slope, double position, double key) {
                                 return slope * (key - position);
                               }));
                      },
                      begins + "biases slope·(j-i): later keys are raised, not lowered", distance});
  return variants;
}

}  // namespace qkv::faults
