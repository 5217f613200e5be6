// Fault rope-partial: another number of channels rotates, or pairs and frequencies come from
// another width.
#include <cmath>

#include "diagnose/faults.hpp"
#include "diagnose/faults/rotation.hpp"
#include "diagnose/faults/rotation_probe.hpp"
#include "qkv/attention/rope.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

/// The first `channels` rotate, in pairs as if `width` did, by base^(-2i/exponent).
struct Widths {
  std::size_t channels, width, exponent;
};

/// Pairs beyond those that rotate have an angle of 0.
Tensor<double, 4> rotate_by(const Widths& widths, const Tensor<double, 4>& x,
                            const Tensor<double, 2>& positions, const Settings& settings) {
  if (positions.size(1) != x.size(2) || widths.width > x.size(3)) return x;
  const std::size_t rows = positions.size(0), L = positions.size(1), pairs = widths.width / 2;
  auto cosines = Tensor<double, 3>::make({rows, L, pairs});
  auto sines = Tensor<double, 3>::make({rows, L, pairs});
  std::vector<double> frequencies(pairs, 0.0);
  for (std::size_t i = 0; i < widths.channels / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(widths.exponent);
    frequencies[i] = std::pow(*settings.rope_base, exponent);
  }
  for (std::size_t b = 0; b < rows; ++b) {
    for (std::size_t l = 0; l < L; ++l) {
      for (std::size_t i = 0; i < pairs; ++i) {
        cosines(b, l, i) = std::cos(positions(b, l) * frequencies[i]);
        sines(b, l, i) = std::sin(positions(b, l) * frequencies[i]);
      }
    }
  }
  return rotate(x, cosines, sines, settings.rope_style);
}

Variant variant(const Widths& widths, std::size_t right) {
  Variant made;
  made.apply = [widths](Alteration& a) {
    for (const std::string stage : {"q", "k"}) {
      a.edit(stage + "_rope", [widths, stage](const Held& held, const Tensor<double, 4>&) {
        const Problem<double>& problem = held.problem();
        return rotate_by(widths, held.unrotated(stage),
                         stage == "q" ? problem.query_positions : problem.key_positions,
                         problem.settings);
      });
    }
  };
  const std::string n = std::to_string(widths.channels), N = std::to_string(right),
                    D = std::to_string(widths.exponent);
  if (widths.channels != right) {
    made.message = "your q and k rotate " + n + " channels, not " + N;
    made.fix = "rotate the first " + N + " channels and pass the others, or say --rope-dim " + n +
               " if that is the model's";
    if (widths.exponent != widths.channels) {
      made.message += ", by frequencies of width " + D;
      made.fix = "rotate the first " + N + " channels, by base^(-2i/" + N + ")";
    }
    return made;
  }
  made.message = widths.width == right
                     ? "your frequencies are base^(-2i/" + D + "), of the head's width"
                     : "your pairs and frequencies are those of the head's width " + D;
  made.fix =
      "take pairs and frequencies from the " + N + " channels that rotate: base^(-2i/" + N + ")";
  return made;
}

/// Every even number of channels, or where that costs too much the usual shares of D.
std::vector<std::size_t> candidates(const RotationProbe& probe, std::size_t D, std::size_t right) {
  constexpr std::size_t forms = 3;
  std::vector<std::size_t> numbers;
  if (probe.affordable(forms * D / 2, true, true) >= forms * D / 2) {
    for (std::size_t n = 2; n <= D; n += 2) numbers.push_back(n);
    return numbers;
  }
  for (const std::size_t n : {D, D / 2, D / 4, D * 3 / 4, right * 2, right / 2, right}) {
    const bool known = std::ranges::find(numbers, n) != numbers.end();
    if (n >= 2 && n % 2 == 0 && n <= D && !known) numbers.push_back(n);
  }
  return numbers;
}

}  // namespace

std::vector<Variant> rope_partial(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  if (!problem.settings.rope_base) return {};
  const std::size_t right = rotating_channels(problem), D = problem.sizes.D / 2 * 2;
  const RotationProbe probe(the_case);
  std::vector<Widths> tried;
  std::vector<RotationProbe::Trial> trials;
  const auto add = [&](const Widths& widths) {
    const bool as_meant =
        widths.channels == right && widths.width == right && widths.exponent == right;
    if (as_meant) return;
    tried.push_back(widths);
    trials.push_back(
        {.rotation = [widths](const Tensor<double, 4>& x, const Tensor<double, 2>& positions,
                              const Problem<double>& part) {
          return rotate_by(widths, x, positions, part.settings);
        }});
  };
  for (const std::size_t n : candidates(probe, D, right)) {
    add({n, n, n});
    if (n == D) continue;
    add({n, D, D});
    if (problem.settings.rope_style == RopeStyle::half) add({n, n, D});
  }
  std::vector<Variant> variants;
  constexpr std::size_t worth_a_run = 3;
  for (const std::size_t n : ranked(probe, trials)) {
    if (variants.size() == worth_a_run) break;
    variants.push_back(variant(tried[n], right));
  }
  return variants;
}

}  // namespace qkv::faults
