// Difference check: the loss with one element moved a little, up and down.
#include "qkv/grad/difference_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "qkv/attention/pipeline.hpp"
#include "qkv/attention/scores.hpp"
#include "qkv/attention/stage_list.hpp"
#include "qkv/attention/weighted_sum.hpp"
#include "qkv/base/parallel.hpp"
#include "qkv/grad/backward.hpp"
#include "qkv/tensor/random.hpp"
#include "tensor_named.hpp"

namespace qkv {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr std::size_t steps = 5;  ///< h, 4h ... 256h, of which the last only judges the one before
constexpr double step_ratio = 4;

template <std::size_t Rank>
Tensor<double, Rank> absolute(const Tensor<double, Rank>& x) {
  if (x.empty()) return x;
  auto y = Tensor<double, Rank>::make(x.sizes());
  std::ranges::transform(x.elements(), y.elements().begin(), [](double v) { return std::abs(v); });
  return y;
}

/// Root mean square of what is neither infinite nor a fill, 1 at most: the natural size of a
/// change.
double size_of_change(std::span<const double> values) {
  constexpr double fill = 1e8;
  double squares = 0;
  std::size_t count = 0;
  for (const double value : values) {
    if (!(std::abs(value) < fill)) continue;
    squares += value * value;
    ++count;
  }
  const double size = count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
  return size > 0 ? std::min(size, 1.0) : 1;
}

class Checker {
 public:
  Checker(const Inputs& inputs, const Settings& settings, const std::optional<NamedArray>& dout)
      : inputs_(inputs), settings_(settings) {
    const auto problem = make_problem<double>(inputs, settings);
    dout_ = upstream(dout, inputs, problem);
    const auto forward =
        attend<double>(problem, [this](std::string_view stage, Tensor<double, 4>& value) {
          held_[std::string(stage)] = value;
        });
    out_ = forward.out;
    measure_rounding(problem, forward);
  }

  /// Seconds that one forward pass takes, roughly.
  double cost() const {
    const double cells = static_cast<double>(held_.at("scores").size());
    const auto& sizes = sizes_;
    const double products = cells * static_cast<double>(sizes.D + sizes.Dv);
    const double rows = static_cast<double>(sizes.B * (sizes.L + sizes.S));
    const double projections = rows * static_cast<double>((sizes.E + sizes.E_out) * sizes.H) *
                               static_cast<double>(std::max(sizes.D, sizes.Dv));
    return 2e-5 + 7e-8 * cells + 1e-10 * (products + projections);
  }

  struct Estimate {
    double derivative = 0, allowed = HUGE_VAL;
  };

  /// The derivative of the loss by element `at` of the tensor or stage `of`.
  Estimate estimate(const std::string& of, const Shape& shape, std::size_t at) const {
    Inputs inputs = inputs_;
    std::optional<NamedArray>* slot = tensor_named(inputs, of);
    Tensor<double, 1> own;  // a copy of the tensor, with one element that moves
    if (slot != nullptr) {
      own = Tensor<double, 1>::make({element_count(shape)});
      copy_elements((*slot)->array, own.data());
      (*slot)->array = reshaped(as_array(own), shape);
    }
    const double x = slot != nullptr ? own.data()[at] : held_.at(of).data()[at];
    const auto out_at = [&](double value) {
      if (slot != nullptr) {
        own.data()[at] = value;
        return attend(make_problem<double>(inputs, settings_)).out;
      }
      return attend<double>(problem_,
                            [&](std::string_view stage, Tensor<double, 4>& tensor) {
                              if (stage != of) return;
                              tensor = tensor.clone();
                              tensor.data()[at] = value;
                            })
          .out;
    };

    const double base =
        slot != nullptr ? size_of_change(own.elements()) : size_of_change(held_.at(of).elements());
    double h = std::cbrt(eps) / 4 * base;
    double slopes[steps], rounding[steps];
    for (std::size_t step = 0; step < steps; ++step, h *= step_ratio) {
      const double up = x + h, down = x - h;
      const Change change = changed(out_at(up), out_at(down));
      slopes[step] = change.loss / (up - down);
      rounding[step] = rounding_ * change.size / (up - down);
    }
    Estimate best;
    for (std::size_t step = 0; step + 1 < steps; ++step) {
      const double truncation = std::abs(slopes[step + 1] - slopes[step]) / 3;
      const double allowed = truncation + rounding[step];
      // A NaN loses: where the loss is not finite, nothing is estimated.
      if (allowed < best.allowed) best = {slopes[step], allowed};
    }
    return best;
  }

 private:
  struct Change {
    double loss = 0;  ///< sum(dout * (up - down))
    double size = 0;  ///< sum of the absolute terms behind every element of out that changed
  };

  Change changed(const Tensor<double, 4>& up, const Tensor<double, 4>& down) const {
    Change change;
    for (std::size_t n = 0; n < out_.size(); ++n) {
      // What does not depend on the element has the same bits twice.
      if (!std::isfinite(out_.data()[n]) || up.data()[n] == down.data()[n]) continue;
      change.loss += dout_.data()[n] * (up.data()[n] - down.data()[n]);
      change.size += std::abs(dout_.data()[n]) * terms_.data()[n];
    }
    return change;
  }

  /// Rounding errors of a softmax grow with its logits, those of a sum with its terms.
  void measure_rounding(const Problem<double>& problem, const Attended<double>& forward) {
    problem_ = problem;
    sizes_ = problem.sizes;
    const Tensor<double, 4>& q = held_.contains("q_rope")   ? held_.at("q_rope")
                                 : held_.contains("q_norm") ? held_.at("q_norm")
                                                            : held_.at("q");
    double logits = 0;
    const Tensor<double, 4> sizes = scores(absolute(q), absolute(forward.present_k));
    for (const double term : sizes.elements())
      logits = std::max(logits, term * std::abs(problem.scale));
    rounding_ = 8 * eps * (1 + (std::isfinite(logits) ? logits : 0));

    const Tensor<double, 4>& weights = held_.at(problem.settings.dropout ? "dropped" : "attn");
    Problem<double> sizes_only = problem;
    sizes_only.output.weight = absolute(problem.output.weight);
    sizes_only.output.bias = absolute(problem.output.bias);
    terms_ = finish(sizes_only, weighted_sum(weights, absolute(forward.present_v)));
  }

  const Inputs& inputs_;
  const Settings& settings_;
  Problem<double> problem_;
  Sizes sizes_;
  Tensor<double, 4> dout_, out_, terms_;
  std::map<std::string, Tensor<double, 4>> held_;
  double rounding_ = 0;
};

/// All places, or the greatest gradients and as many hashed ones.
std::vector<std::size_t> places(const Gradient<double>& gradient, std::size_t most) {
  const std::size_t count = gradient.values.size();
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (count <= most) return all;
  const auto size = [&](std::size_t n) {
    const double value = std::abs(gradient.values.data()[n]);
    return std::isnan(value) ? 0.0 : value;
  };
  const auto half = static_cast<std::ptrdiff_t>(most / 2);
  std::partial_sort(all.begin(), all.begin() + half, all.end(), [&](std::size_t a, std::size_t b) {
    return size(a) != size(b) ? size(a) > size(b) : a < b;
  });
  std::set<std::size_t> chosen(all.begin(), all.begin() + half);
  Random random(0, gradient.of);
  while (chosen.size() < most) chosen.insert(static_cast<std::size_t>(random.bits() % count));
  return {chosen.begin(), chosen.end()};
}

double greatest(const Gradient<double>& gradient) { return size_of(gradient).max_abs; }

}  // namespace

NamedArray comparable_dout(const Inputs& inputs, const Settings& settings,
                           const std::optional<NamedArray>& dout) {
  const auto problem = make_problem<double>(inputs, settings);
  const Tensor<double, 4> out = attend(problem).out;
  Tensor<double, 4> comparable = upstream(dout, inputs, problem).clone();
  for (std::size_t n = 0; n < out.size(); ++n) {
    if (!std::isfinite(out.data()[n])) comparable.data()[n] = 0;
  }
  const Shape shape = stage_shapes(inputs, problem.settings, problem.sizes).back().shape;
  return {reshaped(as_array(comparable), shape), dout ? dout->where : "dout"};
}

std::vector<DifferenceCheck> check_by_differences(const Inputs& inputs, const Settings& settings,
                                                  const std::optional<NamedArray>& dout,
                                                  const std::vector<Gradient<double>>& gradients,
                                                  std::size_t threads, std::size_t most) {
  const Checker checker(inputs, settings, dout);
  constexpr double seconds = 20;
  constexpr double least = 4;
  const double passes = 2.0 * steps * static_cast<double>(gradients.size()) * checker.cost();
  const auto each = static_cast<std::size_t>(
      std::min(std::max(seconds / passes, least), static_cast<double>(most)));

  struct Item {
    std::size_t gradient, place;
    Checker::Estimate found = {};
  };
  std::vector<Item> items;
  for (std::size_t n = 0; n < gradients.size(); ++n) {
    for (const std::size_t place : places(gradients[n], each)) items.push_back({n, place});
  }
  parallel(threads, items.size(), [&](std::size_t n, std::size_t) {
    const Gradient<double>& gradient = gradients[items[n].gradient];
    items[n].found = checker.estimate(gradient.of, gradient.shape, items[n].place);
  });

  // The gradient itself is a sum of rounded terms, of which half of the digits are sure to be left;
  // one a thousandth as large as others may be little else.
  const double own_rounding = std::sqrt(eps);
  constexpr double lost = 1e-3;
  double of_all = 0;
  for (const Gradient<double>& gradient : gradients) of_all = std::max(of_all, greatest(gradient));
  std::vector<DifferenceCheck> checks;
  for (const Gradient<double>& gradient : gradients) {
    checks.push_back({.of = gradient.of, .count = gradient.values.size()});
  }
  for (const Item& item : items) {
    const Gradient<double>& gradient = gradients[item.gradient];
    const double value = gradient.values.data()[item.place];
    const auto [difference, allowed] = item.found;
    // Where everything is 0 (dout is), no gradient could have been wrong.
    if (of_all == 0 || !std::isfinite(value) || !std::isfinite(difference) ||
        !std::isfinite(allowed))
      continue;
    const double scale = std::max(greatest(gradient), lost * of_all);
    const double error = std::abs(value - difference) / scale;
    const double limit = allowed / scale + own_rounding;
    DifferenceCheck& check = checks[item.gradient];
    if (check.checked++ > 0 && error * check.limit <= check.max_rel * limit) continue;
    check.max_rel = error;
    check.limit = limit;
    check.at = item.place;
    check.gradient = value;
    check.difference = difference;
  }
  return checks;
}

}  // namespace qkv
