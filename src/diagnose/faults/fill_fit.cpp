// Fill: fitting it to masked, to attn, or to what comes after.
#include "diagnose/faults/fill_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnose/faults/sampled_rows.hpp"
#include "qkv/attention/project.hpp"

namespace qkv::faults {

namespace {

constexpr std::size_t most_queries = 32;
/// What lies this far below the greatest score of its row has a weight of 0 in float32: e^-104.
constexpr double as_good_as_hidden = 104;
constexpr double infinity = std::numeric_limits<double>::infinity();

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

/// Numbers that people write down, where the fit is as near as a fit can be.
double as_written(double fitted) {
  for (const double written : {0.0, -1.0, -5.0, -10.0, -20.0, -50.0, -100.0, -1e3}) {
    if (std::abs(fitted - written) <= 1e-5 * std::max(1.0, std::abs(written))) return written;
  }
  return fitted;
}

/// Each hidden score as it is in masked: one number throughout, or one number more than the score.
std::vector<FittedFill> from_masked(const SampledRows& sample, const Tensor<double, 4>& masked) {
  std::vector<double> put, added;
  for (const SampledRow& row : sample.rows()) {
    const auto y = masked.row(row.b, row.h, row.i);
    for (std::size_t j = 0; j < y.size(); ++j) {
      if (row.sight[j] != Sight::hidden) continue;
      if (!std::isfinite(y[j])) return {};
      put.push_back(y[j]);
      added.push_back(y[j] - row.x[j]);
    }
  }
  if (put.empty()) return {};
  return {{.number = median(put), .is_added = false}, {.number = median(added), .is_added = true}};
}

/// The least number, of those in use, that would take the weight from real scores far below it.
std::optional<double> above_real_scores(double greatest) {
  for (const double written : {-1e2, -1e3, -1e4, -1e5, -1e6, -1e9}) {
    if (written < greatest) break;
    if (written - greatest < 1e8 && written > greatest + 40) return written;
  }
  return std::nullopt;
}

/// ln a_j - ln a_m = f - x_m for a score that f replaced, f + x_j - x_m for one that it was added
/// to, where m is the visible key with most weight.
std::vector<FittedFill> from_attn(const SampledRows& sample, const Tensor<double, 4>& attn) {
  std::vector<double> put, added;
  double swallowed = infinity;  // greatest real score of rows in which hidden keys have it all
  for (const SampledRow& row : sample.rows()) {
    const auto a = attn.row(row.b, row.h, row.i);
    std::size_t m = a.size();
    bool hidden_weigh = false;
    double greatest = -infinity;
    for (std::size_t j = 0; j < a.size(); ++j) {
      if (row.sight[j] == Sight::hidden) hidden_weigh = hidden_weigh || a[j] > 0;
      if (row.sight[j] != Sight::seen) continue;
      greatest = std::max(greatest, row.x[j]);
      if (a[j] > 0 && (m == a.size() || a[j] > a[m])) m = j;
    }
    if (m == a.size()) {
      if (hidden_weigh) swallowed = std::min(swallowed, greatest);
      continue;
    }
    for (std::size_t j = 0; j < a.size(); ++j) {
      if (row.sight[j] != Sight::hidden || !(a[j] > 0)) continue;
      const double log_ratio = std::log(a[j]) - std::log(a[m]);
      put.push_back(log_ratio + row.x[m]);
      added.push_back(log_ratio + row.x[m] - row.x[j]);
    }
  }
  if (!put.empty()) {
    return {{.number = as_written(median(put)), .is_added = false},
            {.number = as_written(median(added)), .is_added = true}};
  }
  const auto number = above_real_scores(swallowed);
  return number ? std::vector<FittedFill>{{.number = *number, .is_added = false}}
                : std::vector<FittedFill>{};
}

/// What the sampled queries give with one fill, as heads side by side, projected where the user's
/// stage is.
class Outputs {
 public:
  Outputs(const Case& the_case, const SampledRows& sample) : case_(the_case), sample_(sample) {
    const Sizes& sizes = the_case.problem.sizes;
    for (const char* id : {"heads", "concat", "out"}) {
      if (!sample.got(id)) continue;
      projected_ = std::string(id) == "out" && sizes.has_wo;
      for (std::size_t n = 0; n < sample.rows().size(); n += sizes.H) {
        const SampledRow& row = sample.rows()[n];
        append_row(*sample.got(id), id, row.b, row.i);
      }
      break;
    }
  }

  const std::vector<double>& wanted() const { return wanted_; }

  std::vector<double> with(const FittedFill& fill) const {
    const Sizes& sizes = case_.problem.sizes;
    const std::size_t queries = sample_.rows().size() / sizes.H;
    auto heads = Tensor<double, 3>::make({1, queries, sizes.H * sizes.Dv});
    for (std::size_t n = 0; n < sample_.rows().size(); ++n) {
      double* to = heads.data() + n * sizes.Dv;
      mix(sample_.rows()[n], fill, {to, sizes.Dv});
    }
    if (projected_) heads = project(heads, case_.problem.output);
    return {heads.elements().begin(), heads.elements().end()};
  }

 private:
  void append_row(const Tensor<double, 4>& stage, const std::string& id, std::size_t b,
                  std::size_t i) {
    const Sizes& sizes = case_.problem.sizes;
    const bool by_head = id == "heads" || (id == "out" && sizes.rank_four && !sizes.has_wo);
    const bool blhd = id == "out" && case_.problem.settings.layout == Layout::blhd;
    if (!by_head) {
      const auto row = stage.row(b, std::size_t{0}, i);
      wanted_.insert(wanted_.end(), row.begin(), row.end());
      return;
    }
    for (std::size_t h = 0; h < sizes.H; ++h) {
      const auto row = blhd ? stage.row(b, i, h) : stage.row(b, h, i);
      wanted_.insert(wanted_.end(), row.begin(), row.end());
    }
  }

  void mix(const SampledRow& row, const FittedFill& fill, std::span<double> to) const {
    const std::size_t S = row.x.size();
    std::vector<double> x(S, -infinity);
    for (std::size_t j = 0; j < S; ++j) {
      if (row.sight[j] == Sight::seen) x[j] = row.x[j];
      if (row.sight[j] == Sight::hidden)
        x[j] = fill.is_added ? row.x[j] + fill.number : fill.number;
    }
    const double m = *std::ranges::max_element(x);
    double sum = 0;
    for (double& value : x) sum += value = std::exp(value - m);
    for (std::size_t j = 0; j < S; ++j) {
      if (x[j] == 0) continue;
      const auto v = sample_.value(row, j);
      for (std::size_t e = 0; e < to.size(); ++e) to[e] += x[j] / sum * v[e];
    }
  }

  const Case& case_;
  const SampledRows& sample_;
  bool projected_ = false;
  std::vector<double> wanted_;
};

double squares(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += (a[n] - b[n]) * (a[n] - b[n]);
  return sum;
}

/// Gauss-Newton in one variable, from the best of a few starts: the outputs are smooth in the fill.
/// The derivative is a difference quotient, so each step leaves about its width of the error.
std::optional<FittedFill> from_outputs(const Outputs& outputs, FittedFill fill, double around) {
  const std::vector<double>& wanted = outputs.wanted();
  constexpr double width = 1e-5, longest_step = 3;
  double least = infinity, start = around;
  for (const double below : {-3.0, 0.0, 2.0, 4.0, 7.0, 11.0, 16.0}) {
    fill.number = around - below;
    const double off = squares(outputs.with(fill), wanted);
    if (off < least) {
      least = off;
      start = fill.number;
    }
  }
  fill.number = start;
  for (int step = 0; step < 30; ++step) {
    const std::vector<double> now = outputs.with(fill);
    const std::vector<double> beside =
        outputs.with({.number = fill.number + width, .is_added = fill.is_added});
    double along = 0, square = 0;
    for (std::size_t n = 0; n < now.size(); ++n) {
      const double slope = (beside[n] - now[n]) / width;
      along += slope * (wanted[n] - now[n]);
      square += slope * slope;
    }
    if (!(square > 0)) return std::nullopt;
    const double move = std::clamp(along / square, -longest_step, longest_step);
    fill.number += move;
    if (std::abs(move) <= 1e-12 * std::max(1.0, std::abs(fill.number))) break;
  }
  // The fit must be far better than no weight at all, and than all of the weight.
  const double off = squares(outputs.with(fill), wanted);
  for (const double extreme : {-1e3, 1e3}) {
    const FittedFill other{.number = around + extreme, .is_added = fill.is_added};
    if (!(off <= 1e-4 * squares(outputs.with(other), wanted))) return std::nullopt;
  }
  fill.number = as_written(fill.number);
  return fill;
}

/// The greatest visible score of a row, typically: a fill far below it hides.
double typical_greatest(const SampledRows& sample) {
  std::vector<double> greatest;
  for (const SampledRow& row : sample.rows()) {
    double m = -infinity;
    for (std::size_t j = 0; j < row.x.size(); ++j) {
      if (row.sight[j] == Sight::seen) m = std::max(m, row.x[j]);
    }
    if (std::isfinite(m)) greatest.push_back(m);
  }
  return greatest.empty() ? 0 : median(greatest);
}

/// True where the fit is no fill: it adds nothing, which is a rule that is missing, or so much that
/// only hidden keys have a weight, which is a rule that is inverted; or it is where a cap after the
/// mask lifts -Inf to.
bool is_another_mistake(const FittedFill& fill, const std::optional<double>& cap) {
  constexpr double near = 1e-5;
  if (fill.is_added) return fill.number > -near;
  return cap && std::abs(fill.number + *cap) <= near * *cap;
}

/// True where every hidden key of every sampled row has the weight 0 all the same.
bool hides(const SampledRows& sample, const FittedFill& fill) {
  for (const SampledRow& row : sample.rows()) {
    double seen = -infinity, hidden = -infinity;
    for (std::size_t j = 0; j < row.x.size(); ++j) {
      if (row.sight[j] == Sight::seen) seen = std::max(seen, row.x[j]);
      if (row.sight[j] == Sight::hidden)
        hidden = std::max(hidden, fill.is_added ? row.x[j] + fill.number : fill.number);
    }
    if (hidden > -infinity && hidden >= seen - as_good_as_hidden) return false;
  }
  return true;
}

bool finite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double v) { return std::isfinite(v); });
}

std::vector<FittedFill> fit(const Case& the_case, const SampledRows& sample) {
  if (sample.rows().empty()) return {};
  if (const auto* masked = sample.got("masked")) return from_masked(sample, *masked);
  if (const auto* attn = sample.got("attn")) return from_attn(sample, *attn);
  const Outputs outputs(the_case, sample);
  if (outputs.wanted().empty() || !finite(outputs.wanted())) return {};
  std::vector<FittedFill> fills;
  if (const auto put =
          from_outputs(outputs, {.number = 0, .is_added = false}, typical_greatest(sample))) {
    fills.push_back(*put);
  }
  if (const auto added = from_outputs(outputs, {.number = 0, .is_added = true}, 0))
    fills.push_back(*added);
  return fills;
}

}  // namespace

std::vector<FittedFill> fitted_fills(const Case& the_case, const RuleSet& rules) {
  const SampledRows sample(the_case, rules, most_queries);
  std::vector<FittedFill> fills = fit(the_case, sample);
  std::erase_if(fills, [&](const FittedFill& fill) {
    return is_another_mistake(fill, the_case.problem.settings.softcap) || hides(sample, fill);
  });
  return fills;
}

}  // namespace qkv::faults
