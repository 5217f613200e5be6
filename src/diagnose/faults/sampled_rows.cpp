// Sampled rows: which queries, and their scores.
#include "diagnose/faults/sampled_rows.hpp"

#include <cmath>

namespace qkv::faults {

namespace {

/// q, k and v, from the user's own stages where they were given.
QueryKeyValue<double> user_qkv(const Case& the_case) {
  return prepare<double>(the_case.problem, [&](std::string_view id, Tensor<double, 4>& value) {
    const auto found = the_case.got.find(std::string(id));
    if (found != the_case.got.end() && found->second.value.sizes() == value.sizes())
      value = found->second.value;
  });
}

}  // namespace

SampledRows::SampledRows(const Case& the_case, const RuleSet& rules, std::size_t most)
    : case_(the_case), made_(user_qkv(the_case)) {
  const Visibility<double>& visibility = the_case.problem.visibility;
  const Visibility<double> part = only(visibility, rules), rest = without(visibility, rules);
  const std::size_t H = visibility.H, L = visibility.L, S = visibility.S;
  const auto sight_of = [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
    if (rest.hidden(b, h, i, j)) return Sight::never;
    return part.hidden(b, h, i, j) ? Sight::hidden : Sight::seen;
  };
  std::vector<std::pair<std::size_t, std::size_t>> queries;
  for (std::size_t b = 0; b < visibility.B; ++b) {
    for (std::size_t i = 0; i < L; ++i) {
      bool hidden = false, seen = false;
      for (std::size_t j = 0; j < S && !(hidden && seen); ++j) {
        const Sight sight = sight_of(b, 0, i, j);
        hidden = hidden || sight == Sight::hidden;
        seen = seen || sight == Sight::seen;
      }
      if (hidden && seen) queries.emplace_back(b, i);
    }
  }
  const std::size_t count = std::min(queries.size(), most);
  for (std::size_t n = 0; n < count; ++n) {
    const auto [b, i] = queries[n * queries.size() / count];
    for (std::size_t h = 0; h < H; ++h) {
      SampledRow row{.b = b, .h = h, .i = i, .x = scores_of(b, h, i), .sight = {}};
      for (std::size_t j = 0; j < S; ++j) {
        row.sight.push_back(sight_of(b, h, i, j));
        const double bias = visibility.bias(b, h, i, j);
        if (std::isfinite(bias)) row.x[j] += bias;
      }
      rows_.push_back(std::move(row));
    }
  }
}

const Tensor<double, 4>* SampledRows::got(const char* id) const {
  const auto found = case_.got.find(id);
  return found == case_.got.end() || !found->second.fits ? nullptr : &found->second.value;
}

std::span<const double> SampledRows::value(const SampledRow& row, std::size_t j) const {
  const std::size_t group = case_.problem.sizes.H / case_.problem.sizes.G;
  return std::as_const(made_.v).row(row.b, row.h / group, j);
}

std::vector<double> SampledRows::scores_of(std::size_t b, std::size_t h, std::size_t i) const {
  const Problem<double>& problem = case_.problem;
  const auto capped = [&](double x) {
    const auto& cap = problem.settings.softcap;
    return cap ? *cap * std::tanh(x / *cap) : x;
  };
  std::vector<double> x(problem.sizes.S);
  if (const auto* given = got("capped")) {
    std::ranges::copy(given->row(b, h, i), x.begin());
    return x;
  }
  if (const auto* given = got("scaled")) {
    std::ranges::transform(given->row(b, h, i), x.begin(), capped);
    return x;
  }
  if (const auto* given = got("scores")) {
    std::ranges::transform(given->row(b, h, i), x.begin(),
                           [&](double score) { return capped(score * problem.scale); });
    return x;
  }
  const std::size_t group = problem.sizes.H / problem.sizes.G;
  const auto q = std::as_const(made_.q).row(b, h, i);
  for (std::size_t j = 0; j < x.size(); ++j) {
    const auto k = std::as_const(made_.k).row(b, h / group, j);
    double score = 0;
    for (std::size_t d = 0; d < q.size(); ++d) score += q[d] * k[d];
    x[j] = capped(score * problem.scale);
  }
  return x;
}

}  // namespace qkv::faults
