// Findings: what the sizes of the gradients say.
#include "qkv/grad/findings.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "qkv/base/text.hpp"

namespace qkv {

namespace {

/// A weight above this leaves 1 % for all other keys; the gradient through such a row is as small.
constexpr double all_on_one = 0.99;
/// Share of the rows that may be like that. Trained heads have some such rows, hardly ever all.
constexpr double most_rows = 0.9;
/// One layer that enlarges gradients so much does so again in the layer before it.
constexpr double explosion = 100;

template <class T>
std::size_t visible_keys(const Visibility<T>& visibility, std::size_t b, std::size_t h,
                         std::size_t l, std::size_t S) {
  if (!visibility.any()) return S;
  std::size_t seen = 0;
  for (std::size_t s = 0; s < S && seen < 2; ++s) seen += visibility.hidden(b, h, l, s) ? 0 : 1;
  return seen;
}

/// The greatest weight of a row; the sink's is what the others leave.
template <class T>
double greatest_weight(std::span<const T> row, bool has_sink) {
  double greatest = 0, sum = 0;
  for (const T weight : row) {
    greatest = std::max(greatest, static_cast<double>(weight));
    sum += static_cast<double>(weight);
  }
  return has_sink ? std::max(greatest, 1 - sum) : greatest;
}

template <class T>
const Gradient<T>* find(const Backward<T>& backward, const std::string& of) {
  const auto found = std::ranges::find(backward.gradients, of, &Gradient<T>::of);
  return found == backward.gradients.end() ? nullptr : &*found;
}

template <class T>
std::optional<GradFinding> vanishing(const Backward<T>& backward, const Problem<T>& problem) {
  const Tensor<T, 4>& attn = backward.attn;
  std::size_t judged = 0, saturated = 0;
  for (std::size_t b = 0; b < attn.size(0); ++b) {
    for (std::size_t h = 0; h < attn.size(1); ++h) {
      for (std::size_t l = 0; l < attn.size(2); ++l) {
        // One key alone has weight 1 whatever its score; beside a sink it has a rival.
        const std::size_t rivals = visible_keys(problem.visibility, b, h, l, attn.size(3)) +
                                   (problem.sinks.empty() ? 0 : 1);
        if (rivals < 2) continue;
        ++judged;
        if (greatest_weight(attn.row(b, h, l), !problem.sinks.empty()) > all_on_one) ++saturated;
      }
    }
  }
  if (static_cast<double>(saturated) <= most_rows * static_cast<double>(judged)) return {};
  const double before = size_of(*find(backward, "attn")).norm;
  const double after = size_of(*find(backward, backward.logits)).norm;
  const bool unscaled = problem.scale == 1 && problem.sizes.D > 1;
  return GradFinding{
      .id = "gradient.vanishes",
      .stage = "attn",
      .message = std::to_string(saturated) + " of " + std::to_string(judged) +
                 " rows have a weight above 0.99: the softmax is saturated, and of a gradient of "
                 "norm " +
                 short_number(before) + " it passes on " + short_number(after) + " to " +
                 backward.logits,
      .hint = unscaled ? "the scores are not scaled: 1/sqrt(D) would bring their spread near 1"
                       : "scores this far apart: is the scale missing, or are q and k very large?"};
}

template <class T>
double root_mean_square(const Gradient<T>& gradient) {
  const GradientSize size = size_of(gradient);
  return size.count == 0 ? 0 : size.norm / std::sqrt(static_cast<double>(size.count));
}

/// Stages, x and context; not weights, whose gradients sum over every position there is.
template <class T>
bool on_the_way(const Gradient<T>& gradient) {
  return gradient.kind == GradientOf::stage || gradient.of == "x" || gradient.of == "context" ||
         gradient.of == "q" || gradient.of == "k" || gradient.of == "v";
}

/// A way out that fits the stage.
std::string against_explosion(const std::string& stage, double factor, std::size_t D) {
  if (stage == "scores" && std::abs(factor) > 1) {
    return "the scores are multiplied by " + short_number(factor) +
           ", and so is their gradient: 1/sqrt(D) is " +
           short_number(1 / std::sqrt(static_cast<double>(D)));
  }
  return "smaller weights at the start, a layer norm in front, or --clip";
}

template <class T>
std::optional<GradFinding> explosive(const Backward<T>& backward, const Problem<T>& problem) {
  const double start = root_mean_square(*find(backward, "out"));
  for (const Gradient<T>& gradient : backward.gradients) {
    if (!on_the_way(gradient)) continue;
    const double now = root_mean_square(gradient);
    if (start > 0 && now > explosion * start) {
      return GradFinding{.id = "gradient.explodes",
                         .stage = gradient.of,
                         .message = "its gradient is " + short_number(now / start) +
                                    " times as large as dout (" + short_number(now) + " and " +
                                    short_number(start) + " root mean square), limit " +
                                    short_number(explosion),
                         .hint = against_explosion(gradient.of, problem.scale, problem.sizes.D)};
    }
  }
  return {};
}

template <class T>
std::optional<GradFinding> not_finite(const Backward<T>& backward) {
  for (const Gradient<T>& gradient : backward.gradients) {
    const GradientSize size = size_of(gradient);
    if (size.finite()) continue;
    return GradFinding{
        .id = "gradient.finite",
        .stage = gradient.of,
        .fails = true,
        .message = std::to_string(size.nan) + " NaN and " + std::to_string(size.inf) +
                   " infinite of " + std::to_string(size.count) + " elements",
        .hint = gradient.of == "out" ? "dout holds them" : "qkv trace shows where they come from"};
  }
  return {};
}

}  // namespace

template <class T>
std::vector<GradFinding> findings(const Backward<T>& backward, const Problem<T>& problem) {
  std::vector<GradFinding> found;
  for (const auto& finding :
       {not_finite(backward), explosive(backward, problem), vanishing(backward, problem)}) {
    if (finding) found.push_back(*finding);
  }
  return found;
}

template std::vector<GradFinding> findings(const Backward<float>&, const Problem<float>&);
template std::vector<GradFinding> findings(const Backward<double>&, const Problem<double>&);

}  // namespace qkv
