// fitted_scale(): the factor on the scores that the user's tensors speak for.
#include "fitted_scale.hpp"

#include <algorithm>
#include <cmath>

#include "follow.hpp"
#include "query_sample.hpp"

namespace qkv::faults {

namespace {

/// Sums for y = f*x.
struct LeastSquares {
  double xx = 0, xy = 0, yy = 0;
  double freedom = -1;

  void add(double x, double y) {
    xx += x * x;
    xy += x * y;
    yy += y * y;
    freedom += 1;
  }
  std::optional<FittedNumber> fit(double eps) const {
    if (!(xx > 0) || freedom < 1) return std::nullopt;
    const double f = xy / xx, rest = std::max(0.0, yy - f * xy);
    return FittedNumber{.value = f, .error = std::sqrt(rest / freedom / xx) + eps * std::abs(f)};
  }
};

/// What `scaled` must have been, from a stage before the softmax; NaN where it cannot be told.
class Undone {
 public:
  Undone(const Problem<double>& problem, const std::string& id)
      : problem_(problem), masked_(id == "masked"), capped_(id != "scaled") {}

  double operator()(std::size_t b, std::size_t h, std::size_t l, std::size_t s, double y) const {
    if (masked_) {
      if (problem_.visibility.hidden(b, h, l, s)) return NAN;
      y -= problem_.visibility.bias(b, h, l, s);
    }
    if (!capped_ || !problem_.settings.softcap) return y;
    const double cap = *problem_.settings.softcap, bent = y / cap;
    // Close to the cap, rounding of y leaves nothing of scaled.
    return std::abs(bent) < 0.99 ? cap * std::atanh(bent) : NAN;
  }

 private:
  const Problem<double>& problem_;
  bool masked_, capped_;
};

std::optional<FittedNumber> from_logits(const Case& the_case, const std::string& id,
                                        const Tensor<double, 4>& y) {
  const Followed followed = follow(the_case, "scores");
  const Tensor<double, 4>& x = followed.held.at("scores");
  if (x.sizes() != y.sizes()) return std::nullopt;
  const Undone undone(the_case.problem, id);
  LeastSquares sums;
  for (std::size_t b = 0; b < x.size(0); ++b) {
    for (std::size_t h = 0; h < x.size(1); ++h) {
      for (std::size_t l = 0; l < x.size(2); ++l) {
        for (std::size_t s = 0; s < x.size(3); ++s) {
          const double from = x(b, h, l, s), to = undone(b, h, l, s, y(b, h, l, s));
          if (std::isfinite(from) && std::isfinite(to)) sums.add(from, to);
        }
      }
    }
  }
  return sums.fit(the_case.eps);
}

/// Below it a weight has lost digits, or everything.
double smallest_normal(DType dtype) {
  if (dtype == DType::float16) return 0x1p-14;
  return dtype == DType::float64 ? 0x1p-1022 : 0x1p-126;
}

std::optional<FittedNumber> from_weights(const Case& the_case, const Tensor<double, 4>& attn) {
  const Followed followed = follow(the_case, "scores");
  const Tensor<double, 4>& scores = followed.held.at("scores");
  const Visibility<double>& visibility = the_case.problem.visibility;
  if (scores.sizes() != attn.sizes()) return std::nullopt;
  const double least = smallest_normal(the_case.got.at("attn").dtype);
  LeastSquares sums;
  std::vector<std::pair<double, double>> row;
  for (std::size_t b = 0; b < attn.size(0); ++b) {
    for (std::size_t h = 0; h < attn.size(1); ++h) {
      for (std::size_t l = 0; l < attn.size(2); ++l) {
        row.clear();
        double x_mean = 0, y_mean = 0;
        for (std::size_t s = 0; s < attn.size(3); ++s) {
          const double x = scores(b, h, l, s), weight = attn(b, h, l, s);
          if (!(weight >= least) || !std::isfinite(x) || visibility.hidden(b, h, l, s)) continue;
          row.emplace_back(x, std::log(weight) - visibility.bias(b, h, l, s));
          x_mean += row.back().first;
          y_mean += row.back().second;
        }
        if (row.size() < 2) continue;
        for (const auto& [x, y] : row) {
          sums.add(x - x_mean / static_cast<double>(row.size()),
                   y - y_mean / static_cast<double>(row.size()));
        }
        sums.freedom -= 1;  // the row's own lse
      }
    }
  }
  return sums.fit(the_case.eps);
}

std::optional<FittedNumber> from_search(const Case& the_case, const std::string& id) {
  const QuerySample sample(the_case, id);
  double f = the_case.problem.scale;
  QuerySample::Fit best = sample.at(f);
  for (int power = -8; power <= 8; ++power) {
    const double other = the_case.problem.scale * std::ldexp(1.0, power);
    const QuerySample::Fit fit = sample.at(other);
    if (!(fit.squares < best.squares)) continue;
    best = fit;
    f = other;
  }
  for (int round = 0; round < 20 && best.curvature > 0; ++round) {
    double step = best.descent / best.curvature;
    QuerySample::Fit next = sample.at(f + step);
    for (int half = 0; half < 6 && !(next.squares <= best.squares); ++half) {
      step /= 2;
      next = sample.at(f + step);
    }
    if (!(next.squares <= best.squares)) break;
    f += step;
    best = next;
    if (std::abs(step) <= 1e-12 * std::abs(f)) break;
  }
  if (!(best.curvature > 0) || best.count < 2) return std::nullopt;
  const double variance = best.squares / static_cast<double>(best.count - 1);
  return FittedNumber{.value = f,
                      .error = std::sqrt(variance / best.curvature) + the_case.eps * std::abs(f)};
}

}  // namespace

bool FittedNumber::may_be(double number) const { return std::abs(value - number) <= 8 * error; }

std::optional<FittedNumber> fitted_scale(const Case& the_case) {
  for (const std::string id : {"scaled", "capped", "masked"}) {
    if (const Tensor<double, 4>* logits = given(the_case, id))
      return from_logits(the_case, id, *logits);
  }
  for (const std::string id : {"attn", "heads", "concat", "out"}) {
    const Tensor<double, 4>* stage = given(the_case, id);
    if (stage == nullptr) continue;
    if (id == "attn" && !the_case.problem.settings.softcap) return from_weights(the_case, *stage);
    return from_search(the_case, id);
  }
  return std::nullopt;
}

}  // namespace qkv::faults
