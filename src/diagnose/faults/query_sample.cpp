// QuerySample: a few queries followed from their scores to one of the user's stages, for any scale.
#include "query_sample.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "qkv/attention/project.hpp"

namespace qkv::faults {

namespace {

/// W_O on the heads of one query side by side, with or without its bias.
std::vector<double> through_output(const std::vector<double>& heads, Linear<double> output,
                                   bool with_bias) {
  if (!with_bias) output.bias = {};
  auto row = Tensor<double, 3>::make({1, 1, heads.size()});
  std::ranges::copy(heads, row.data());
  const Tensor<double, 3> y = project(row, output);
  return {y.elements().begin(), y.elements().end()};
}

}  // namespace

QuerySample::QuerySample(const Case& the_case, std::string id)
    : case_(the_case), id_(std::move(id)), followed_(follow(the_case, "scores")) {
  const Sizes& sizes = case_.problem.sizes;
  values_ = followed_.held.values();
  const double work = static_cast<double>(sizes.H * sizes.S * (sizes.Dv + 10));
  constexpr double most_work = 4e6;
  const auto affordable = static_cast<std::size_t>(std::clamp(most_work / work, 4.0, 256.0));
  const std::size_t all = sizes.B * sizes.L, count = std::min(all, affordable);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t at = n * all / count;
    queries_.push_back({at / sizes.L, at % sizes.L});
  }
}

bool QuerySample::weigh(const Query& query, std::size_t h, double f, std::vector<double>& attn,
                        std::vector<double>& slope) const {
  const auto x = followed_.held.at("scores").row(query.b, h, query.l);
  const Visibility<double>& visibility = case_.problem.visibility;
  const auto& softcap = case_.problem.settings.softcap;
  double greatest = -HUGE_VAL;
  for (std::size_t s = 0; s < x.size(); ++s) {
    if (visibility.hidden(query.b, h, query.l, s)) {
      attn[s] = -HUGE_VAL;
      slope[s] = 0;
      continue;
    }
    const double bent = softcap ? std::tanh(f * x[s] / *softcap) : 0;
    attn[s] = (softcap ? *softcap * bent : f * x[s]) + visibility.bias(query.b, h, query.l, s);
    slope[s] = x[s] * (1 - bent * bent);
    greatest = std::max(greatest, attn[s]);
  }
  if (greatest == -HUGE_VAL) return false;
  double sum = 0, mean = 0;
  for (double& weight : attn) sum += weight = std::exp(weight - greatest);
  for (std::size_t s = 0; s < x.size(); ++s) mean += (attn[s] /= sum) * slope[s];
  for (std::size_t s = 0; s < x.size(); ++s) slope[s] = attn[s] * (slope[s] - mean);
  return true;
}

void QuerySample::compare(const std::vector<double>& own, const std::vector<double>& slope,
                          std::size_t b, std::size_t h, std::size_t l, Fit& fit) const {
  const auto theirs = case_.got.at(id_).value.row(b, h, l);
  for (std::size_t n = 0; n < std::min(own.size(), theirs.size()); ++n) {
    const double rest = theirs[n] - own[n];
    if (!std::isfinite(rest)) continue;
    fit.squares += rest * rest;
    fit.descent += rest * slope[n];
    fit.curvature += slope[n] * slope[n];
    ++fit.count;
  }
}

QuerySample::Fit QuerySample::at(double f) const {
  const Sizes& sizes = case_.problem.sizes;
  const bool by_head = id_ == "heads" || (id_ == "out" && sizes.rank_four && !sizes.has_wo);
  const bool exchanged = id_ == "out" && by_head && case_.problem.settings.layout == Layout::blhd;
  Fit fit;
  std::vector<double> attn(sizes.S), slope(sizes.S);
  for (const Query& query : queries_) {
    std::vector<double> wide, wide_slope;
    bool whole = true;
    for (std::size_t h = 0; h < sizes.H; ++h) {
      if (!weigh(query, h, f, attn, slope)) {
        whole = false;
        break;
      }
      if (id_ == "attn") {
        compare(attn, slope, query.b, h, query.l, fit);
        continue;
      }
      std::vector<double> head(sizes.Dv, 0), head_slope(sizes.Dv, 0);
      const std::size_t g = h / (sizes.H / sizes.G);
      for (std::size_t s = 0; s < sizes.S; ++s) {
        if (attn[s] == 0) continue;
        const auto v = values_.row(query.b, g, s);
        for (std::size_t e = 0; e < sizes.Dv; ++e) {
          head[e] += attn[s] * v[e];
          head_slope[e] += slope[s] * v[e];
        }
      }
      if (by_head) {
        compare(head, head_slope, query.b, exchanged ? query.l : h, exchanged ? h : query.l, fit);
      }
      wide.insert(wide.end(), head.begin(), head.end());
      wide_slope.insert(wide_slope.end(), head_slope.begin(), head_slope.end());
    }
    // A head that sees nothing has weights that are not f's business.
    if (!whole || id_ == "attn" || by_head) continue;
    if (id_ == "out" && sizes.has_wo) {
      wide = through_output(wide, case_.problem.output, true);
      wide_slope = through_output(wide_slope, case_.problem.output, false);
    }
    compare(wide, wide_slope, query.b, 0, query.l, fit);
  }
  return fit;
}

}  // namespace qkv::faults
