// scale-other: the scores are multiplied by another number.
#include <cmath>
#include <string>

#include "diagnose/faults.hpp"
#include "fitted_scale.hpp"
#include "qkv/base/text.hpp"
#include "scale_words.hpp"
#include "wrong_factor.hpp"

namespace qkv::faults {

namespace {

struct NamedNumber {
  double value;
  std::string words;
};

/// Numbers that people take for the scale.
std::vector<NamedNumber> known_numbers(const Problem<double>& problem) {
  const Sizes& sizes = problem.sizes;
  const auto D = static_cast<double>(sizes.D);
  std::vector<NamedNumber> numbers = {
      {1 / std::sqrt(D), "1/sqrt(" + short_number(D) + "), the default"},
      {std::pow(D, -0.25), short_number(D) + "^(-1/4), the root of the scale, on one side only"}};
  const auto root_of = [&numbers](std::size_t size, const std::string& what) {
    const auto number = static_cast<double>(size);
    const std::string text = short_number(number);
    numbers.push_back({1 / std::sqrt(number), "1/sqrt(" + text + "), " + text + " being " + what});
  };
  root_of(sizes.S, "the number of keys");
  root_of(sizes.L, "the number of queries");
  root_of(sizes.Dv, "the head width of v");
  if (sizes.projects && sizes.E % sizes.H == 0)
    root_of(sizes.E / sizes.H, "the input's width by heads");
  root_of(sizes.G, "the number of key/value heads");
  return numbers;
}

}  // namespace

std::vector<Variant> scale_other(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  const std::optional<FittedNumber> fitted = fitted_scale(the_case);
  if (!fitted || fitted->may_be(problem.scale)) return {};
  std::vector<Variant> variants;
  for (const auto& [value, words] : known_numbers(problem)) {
    if (!fitted->may_be(value)) continue;
    wrong_factor(the_case, value, "multiplied by " + short_number(value) + " = " + words, variants);
  }
  wrong_factor(the_case, fitted->value, "multiplied by " + short_number(fitted->value), variants);
  return variants;
}

}  // namespace qkv::faults
