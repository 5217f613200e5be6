// Rounding: how far a correct implementation may lie from the reference, as a variance per element.
#include "diagnose/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "diagnose/norm_variance.hpp"
#include "diagnose/rotation_variance.hpp"
#include "diagnose/softmax_variance.hpp"
#include "qkv/attention/project.hpp"
#include "qkv/attention/scores.hpp"
#include "qkv/attention/split_heads.hpp"
#include "qkv/attention/weighted_sum.hpp"

namespace qkv {

namespace {

using Four = Tensor<double, 4>;

/// Variance of rounding a number of size 1 to this precision: evenly spread over one step of eps...
/// at most.
double unit_variance(double eps) { return eps * eps / 12; }

template <std::size_t Rank>
Tensor<double, Rank> square(const Tensor<double, Rank>& x) {
  auto y = Tensor<double, Rank>::make(x.sizes());
  // An infinite or missing number has no rounding error of its own; it is compared as it is.
  std::ranges::transform(x.elements(), y.elements().begin(),
                         [](double v) { return std::isfinite(v) ? v * v : 0; });
  return y;
}

Four zeros(const Four& like) { return Four::make(like.sizes()); }

void add(Four& to, const Four& from, double factor = 1) {
  for (std::size_t n = 0; n < to.size(); ++n) to.data()[n] += factor * from.data()[n];
}

}  // namespace

std::string Rounding::last_of(std::initializer_list<std::string> ids) const {
  for (const std::string& id : ids) {
    if (variances_.contains(id)) return id;
  }
  return *std::prev(ids.end());
}

double Rounding::accumulator() const { return unit_variance(std::min(eps_, 0x1p-23)); }

Tensor<double, 4> Rounding::with_cache(const std::string& id, const Four& all) const {
  // The cache came from a file: it has no error.
  auto full = Four::make(all.sizes());
  const auto found = variances_.find(id);
  if (found == variances_.end()) return full;
  const Four& now = found->second;
  const std::size_t rows = all.size(2), past = rows - std::min(rows, now.size(2));
  for (std::size_t b = 0; b < all.size(0); ++b) {
    for (std::size_t g = 0; g < all.size(1); ++g) {
      for (std::size_t s = past; s < rows; ++s) {
        if (b < now.size(0) && g < now.size(1) && now.size(3) == all.size(3))
          std::ranges::copy(now.row(b, g, s - past), full.row(b, g, s).begin());
      }
    }
  }
  return full;
}

/// x*W with the variances of both sums: rounding of the result, of the partial sums, and of x.
Four Rounding::projected(const Tensor<double, 3>& x, const Tensor<double, 3>& x_variance,
                         const Linear<double>& linear) const {
  Linear<double> squared = linear;
  squared.weight = square(linear.weight);
  squared.bias = {};
  const Tensor<double, 3> products = project(square(x), squared),
                          passed = project(x_variance, squared);
  const double partial = accumulator() * static_cast<double>(linear.in()) / 2;
  auto variance = Four::make({products.size(0), 1, products.size(1), products.size(2)});
  for (std::size_t n = 0; n < variance.size(); ++n)
    variance.data()[n] = partial * products.data()[n] + passed.data()[n];
  return variance;
}

Four Rounding::of_projection(const std::string& id, const Held& held, const Four& value) const {
  const Problem<double>& problem = held.problem();
  if (!problem.sizes.projects) return zeros(value);  // q, k, v are inputs
  const Linear<double>& linear = id == "q"   ? problem.query
                                 : id == "k" ? problem.key
                                             : problem.value;
  const std::string source = id != "q" && held.has("context") ? "context" : "x";
  const Four& x = held.at(source);
  const auto flat = x.reshaped<3>({x.size(0), x.size(1) * x.size(2), x.size(3)});
  if (flat.size(2) != linear.in()) return zeros(value);
  const Four wide = projected(flat, Tensor<double, 3>::make(flat.sizes()), linear);
  const std::size_t heads = id == "q" ? problem.sizes.H : problem.sizes.G;
  const Four split =
      split_heads(wide.reshaped<3>({wide.size(0), wide.size(2), wide.size(3)}), heads);
  return split.sizes() == value.sizes() ? split : zeros(value);
}

Four Rounding::of_rotation(const std::string& id, const Held& held, const Four& value) const {
  const Problem<double>& problem = held.problem();
  const std::string before = last_of({id.substr(0, 1) + "_norm", id.substr(0, 1)});
  const Four &x = held.at(before), &from = variances_.at(before);
  const Tensor<double, 2>& positions =
      id == "q_rope" ? problem.query_positions : problem.key_positions;
  if (x.sizes() != value.sizes() || from.sizes() != value.sizes()) return zeros(value);
  return rotation_variance(x, from, positions);
}

Four Rounding::of_scores(const Held& held) const {
  const Four &q = held.query(), k = held.keys();
  const Four q2 = square(q), k2 = square(k);
  const Four& q_variance = variances_.at(last_of({"q_rope", "q_norm", "q"}));
  const Four k_variance = with_cache(last_of({"k_rope", "k_norm", "k"}), k);
  Four variance = scores(q2, k2);
  const double partial = accumulator() * static_cast<double>(q.size(3)) / 2;
  for (double& v : variance.elements()) v *= partial;
  add(variance, scores(q2, k_variance));
  if (q_variance.sizes() == q.sizes()) add(variance, scores(q_variance, k2));
  return variance;
}

Four Rounding::of_softmax(const Held& held, const Four& attn) const {
  const std::string before = held.has("masked")   ? "masked"
                             : held.has("capped") ? "capped"
                                                  : "scaled";
  const Four& from = variances_.at(before);
  if (from.sizes() != attn.sizes()) return zeros(attn);
  // exp, the sum and the quotient round once or twice each.
  const double own = 6 * unit_variance(std::max(eps_, 0x1p-23));
  return softmax_variance(held.logits(), from, attn, own);
}

Four Rounding::of_weighted_sum(const Held& held, const Four& value) const {
  const Four &a = held.at("attn"), v = held.values();
  const Four a2 = square(a), v2 = square(v);
  if (a.size(3) != v.size(2) || a.size(1) % v.size(1) != 0) return zeros(value);
  Four variance = weighted_sum(a2, v2);
  const double partial = accumulator() * static_cast<double>(a.size(3)) / 2;
  for (double& x : variance.elements()) x *= partial;
  add(variance, weighted_sum(variances_.at("attn"), v2));
  add(variance, weighted_sum(a2, with_cache("v", v)));
  return variance.sizes() == value.sizes() ? variance : zeros(value);
}

/// concat moves numbers; out maps them, or is one of the stages before in other axes.
Four Rounding::of_output(const std::string& id, const Held& held, const Four& value) const {
  const Problem<double>& problem = held.problem();
  if (id == "out" && problem.sizes.has_wo) {
    const Four &x = held.at("concat"), &from = variances_.at("concat");
    const std::array<std::size_t, 3> flat = {x.size(0), x.size(1) * x.size(2), x.size(3)};
    if (flat[2] != problem.output.in()) return zeros(value);
    const Four wide = projected(x.reshaped<3>(flat), from.reshaped<3>(flat), problem.output);
    return wide.size() == value.size() ? wide.reshaped<4>(value.sizes()) : zeros(value);
  }
  const std::string before = id == "out" && held.has("concat") ? "concat" : "heads";
  const Four& from = variances_.at(before);
  if (from.sizes() == value.sizes()) return from.clone();
  const Four moved = exchange_heads_and_length(from);
  return moved.size() == value.size() ? moved.reshaped<4>(value.sizes()).clone() : zeros(value);
}

Four Rounding::before_rounding(const std::string& id, const Held& held, const Four& value) const {
  if (id == "x" || id == "context") return zeros(value);
  if (id == "q" || id == "k" || id == "v") return of_projection(id, held, value);
  if (id == "q_norm" || id == "k_norm") {
    const std::string from = id.substr(0, 1);
    return norm_variance(held.at(from), variances_.at(from), value, held.problem());
  }
  if (id == "q_rope" || id == "k_rope") return of_rotation(id, held, value);
  if (id == "scores") return of_scores(held);
  if (id == "scaled" || id == "capped" || id == "masked") {
    const std::string from = id == "scaled"                         ? "scores"
                             : id == "masked" && held.has("capped") ? "capped"
                                                                    : "scaled";
    const double factor = id == "scaled" ? held.problem().scale : 1;
    auto variance = zeros(value);
    if (variances_.at(from).sizes() == value.sizes())
      add(variance, variances_.at(from), factor * factor);
    // The factor, the cap's tanh and the added mask round as well, by what went in.
    if (held.at(from).sizes() == value.sizes())
      add(variance, square(held.at(from)), factor * factor * unit_variance(eps_));
    return variance;
  }
  if (id == "attn") return of_softmax(held, value);
  if (id == "heads" || (id == "out" && !held.has("heads"))) return of_weighted_sum(held, value);
  return of_output(id, held, value);
}

void Rounding::computed(const std::string& id, const Held& held, const Four& value) {
  Four variance = before_rounding(id, held, value);
  if (variance.sizes() == value.sizes()) add(variance, square(value), unit_variance(eps_));
  if (id == "masked") forget_fill(variance, held, value);
  variances_[id] = std::move(variance);
}

void Rounding::moved(const std::string& id, const std::string& from, const Four& source,
                     const Move& move) {
  const Four& variance = variances_.at(from);
  Four stored = square(source);  // once more, where the source is an input
  for (double& v : stored.elements()) v *= unit_variance(eps_);
  if (variance.sizes() == source.sizes()) add(stored, variance);
  variances_[id] = move(stored);
}

void Rounding::spread(const std::string& id, const Four& variance) {
  Four& known = variances_.at(id);
  if (known.sizes() == variance.sizes()) add(known, variance);
}

/// A fill is one constant: it has no error that could spread, however large it is. What was added
/// to scores has.
void Rounding::forget_fill(Four& variance, const Held& held, const Four& value) {
  const Visibility<double>& visibility = held.problem().visibility;
  if (!visibility.any() || variance.sizes() != value.sizes() || value.size(1) != visibility.H)
    return;
  for (std::size_t b = 0; b < value.size(0); ++b) {
    for (std::size_t h = 0; h < value.size(1); ++h) {
      for (std::size_t l = 0; l < value.size(2); ++l) {
        const auto x = value.row(b, h, l);
        const auto spread = variance.row(b, h, l);
        std::optional<double> fill;
        for (std::size_t s = 0; s < x.size(); ++s) {
          if (!visibility.hidden(b, h, l, s)) continue;
          if (!fill) fill = x[s];
          if (x[s] == *fill) spread[s] = 0;
        }
      }
    }
  }
}

void Rounding::given(const std::string& id, const Held& held, const GotStage& got) {
  Four variance = square(got.value);
  for (double& v : variance.elements()) v *= unit_variance(std::max(epsilon(got.dtype), eps_));
  if (id == "masked") forget_fill(variance, held, got.value);
  variances_[id] = std::move(variance);
}

Four Rounding::tolerance(const std::string& id, const Four& value) const {
  // Below the smallest normal number of the type, rounding is absolute; float16's is 2^-14 with
  // steps of 2^-24.
  const double floor = eps_ >= 0x1p-10 && eps_ < 0x1p-7 ? 0x1p-24 : 0x1p-126;
  auto allowed = Four::make(value.sizes());
  const Four& variance = variances_.at(id);
  for (std::size_t n = 0; n < allowed.size(); ++n) {
    double v = variance.size() == allowed.size() ? variance.data()[n] : 0;
    // A stored fill is rounded like any number.
    const double x = value.data()[n];
    if (id == "masked" && v == 0 && std::isfinite(x)) v = x * x * unit_variance(eps_);
    allowed.data()[n] = rounding_deviations * std::sqrt(v) + floor;
  }
  return allowed;
}

}  // namespace qkv
