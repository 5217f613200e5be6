// Fault rope-style: the rotation pairs other channels: i with i+n/2 in place of 2i with 2i+1, or
// the other way round.
#include "diagnose/faults.hpp"
#include "diagnose/faults/rotation.hpp"
#include "qkv/attention/rope.hpp"
#include "qkv/base/text.hpp"

namespace qkv::faults {

namespace {

RopeStyle other(RopeStyle style) {
  return style == RopeStyle::half ? RopeStyle::interleaved : RopeStyle::half;
}

std::string pairs_of(RopeStyle style) {
  return style == RopeStyle::half ? "(i, i+n/2)" : "(2i, 2i+1)";
}

std::string option_of(RopeStyle style) { return style == RopeStyle::half ? "half" : "interleaved"; }

/// Channels where the other pairing wants them: with half pairs at i and i+n/2, with interleaved
/// ones at 2i and 2i+1. The scores of q and k, both so, are the same.
Tensor<double, 4> paired_otherwise(const Tensor<double, 4>& x, RopeStyle now, std::size_t n) {
  auto y = x.clone();
  const std::size_t width = x.size(3), pairs = n / 2;
  for (std::size_t row = 0; row < x.size() / width; ++row) {
    const double* from = x.data() + row * width;
    double* to = y.data() + row * width;
    for (std::size_t i = 0; i < pairs; ++i) {
      const bool half = now == RopeStyle::half;
      to[half ? 2 * i : i] = from[half ? i : 2 * i];
      to[half ? 2 * i + 1 : i + pairs] = from[half ? i + pairs : 2 * i + 1];
    }
  }
  return y;
}

/// Only one of q and k is rotated in the other pairing.
StageEdit restyled(const std::string& stage) {
  return [stage](const Held& held, const Tensor<double, 4>& right) {
    const Problem<double>& problem = held.problem();
    const Tensor<double, 4>& x = held.unrotated(stage);
    const Tensor<double, 2>& positions =
        stage == "q" ? problem.query_positions : problem.key_positions;
    if (positions.size(1) != x.size(2)) return right;
    return rope(x, positions, *problem.settings.rope_base, other(problem.settings.rope_style),
                rotating_channels(problem));
  };
}

}  // namespace

std::vector<Variant> rope_style(const Case& the_case) {
  const Problem<double>& problem = the_case.problem;
  const std::size_t n = rotating_channels(problem);
  if (!problem.settings.rope_base || n < 4) return {};
  const RopeStyle right = problem.settings.rope_style, wrong = other(right);
  const std::string rotates = " rotated in pairs " + pairs_of(wrong) + ", not " + pairs_of(right);
  const std::string fix = "rotate channels " + pairs_of(right) + ", or say --rope-style " +
                          option_of(wrong) + " if the weights were made for it";
  const auto restyle = [](Alteration& a) {
    a.problem.settings.rope_style = other(a.problem.settings.rope_style);
  };
  std::vector<Variant> variants;
  variants.push_back({restyle, "your q and k are" + rotates, fix});
  variants.push_back({[restyle, right, n](Alteration& a) {
                        restyle(a);
                        for (const char* stage : {"q", "k"}) {
                          a.move(stage, [right, n](const Tensor<double, 4>& x) {
                            return n <= x.size(3) ? paired_otherwise(x, right, n) : x;
                          });
                        }
                      },
                      "your q and k hold their channels in the order of pairs " + pairs_of(wrong) +
                          ": another layout, which gives the same scores",
                      "nothing to mend: reorder wq and wk and say --rope-style " +
                          option_of(wrong) + " to compare q and k too"});
  for (const char* stage : {"q", "k"}) {
    variants.push_back(
        {[stage](Alteration& a) { a.edit(std::string(stage) + "_rope", restyled(stage)); },
         std::string("your ") + stage + " is" + rotates, fix});
  }
  return variants;
}

}  // namespace qkv::faults
