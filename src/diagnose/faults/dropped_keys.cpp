// dropped_keys(): which weights dropout took, found from the heads alone.
#include "dropped_keys.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "follow.hpp"
#include "user_heads.hpp"

namespace qkv::faults {

namespace {

/// One query of one head: its heads row, and that row as every subset of its keys would make it.
struct Query {
  std::size_t b = 0, h = 0, l = 0;
  std::vector<std::size_t> keys = {};  ///< those with weight
  std::vector<double> wanted = {};     ///< (Dv)
  std::vector<double> allowed = {};    ///< (Dv)
  std::vector<double> sums = {};       ///< (2^keys, Dv)

  std::size_t subsets() const { return std::size_t{1} << keys.size(); }
  const double* sum(std::size_t subset) const { return sums.data() + subset * wanted.size(); }

  /// Whether c times the sum of this subset is the row; and how far off, in units of what rounding
  /// may do.
  double off(std::size_t subset, double c) const {
    double worst = 0;
    for (std::size_t e = 0; e < wanted.size(); ++e)
      worst = std::max(worst, std::abs(wanted[e] - c * sum(subset)[e]) / allowed[e]);
    return worst;
  }
  /// The c with which this subset comes closest; 0 for the empty one.
  double factor(std::size_t subset) const {
    double along = 0, square = 0;
    for (std::size_t e = 0; e < wanted.size(); ++e) {
      along += wanted[e] * sum(subset)[e];
      square += sum(subset)[e] * sum(subset)[e];
    }
    return square > 0 ? along / square : 0;
  }
  std::pair<std::size_t, double> best(double c) const {
    std::pair<std::size_t, double> best{0, off(0, c)};
    for (std::size_t subset = 1; subset < subsets(); ++subset) {
      if (const double by = off(subset, c); by < best.second) best = {subset, by};
    }
    return best;
  }
};

/// Rounding of the user's sums: some units of eps of all that was added.
constexpr double roundings = 32;
constexpr std::size_t most_keys = 12;

std::optional<Query> read_query(const Case& the_case, const Held& held, const UserHeads& heads,
                                const Tensor<double, 4>& v, std::size_t b, std::size_t h,
                                std::size_t l) {
  const std::size_t Dv = v.size(3), g = h / (heads.value.size(1) / v.size(1));
  Query query{.b = b, .h = h, .l = l};
  const auto a = held.at("attn").row(b, h, l);
  for (std::size_t s = 0; s < a.size(); ++s) {
    if (a[s] > the_case.eps) query.keys.push_back(s);
  }
  if (query.keys.size() > most_keys) return std::nullopt;
  query.allowed.assign(Dv, 0x1p-126);
  for (std::size_t e = 0; e < Dv; ++e) {
    query.wanted.push_back(heads.value(b, h, l, e));
    double added = 0;
    for (std::size_t s = 0; s < a.size(); ++s) added += a[s] * std::abs(v(b, g, s, e));
    query.allowed[e] += roundings * (heads.error(b, h, l, e) + the_case.eps * added);
    if (!std::isfinite(query.allowed[e])) return std::nullopt;
  }
  query.sums.assign(query.subsets() * Dv, 0);
  for (std::size_t subset = 1; subset < query.subsets(); ++subset) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(subset));
    const std::size_t key = query.keys[bit], rest = subset & (subset - 1);
    for (std::size_t e = 0; e < Dv; ++e)
      query.sums[subset * Dv + e] = query.sums[rest * Dv + e] + a[key] * v(b, g, key, e);
  }
  return query;
}

/// All queries, or none where they are too many.
std::vector<Query> read_queries(const Case& the_case, const Held& held, const UserHeads& heads) {
  const Tensor<double, 4> v = held.values();
  std::vector<Query> queries;
  std::size_t work = 0;
  for (std::size_t b = 0; b < heads.value.size(0); ++b) {
    for (std::size_t h = 0; h < heads.value.size(1); ++h) {
      for (std::size_t l = 0; l < heads.value.size(2); ++l) {
        auto query = read_query(the_case, held, heads, v, b, h, l);
        if (!query) return {};
        work += query->sums.size();
        constexpr std::size_t most_work = 4'000'000;
        if (work > most_work) return {};
        if (!query->keys.empty()) queries.push_back(std::move(*query));
      }
    }
  }
  return queries;
}

/// The number by which a subset of every query's weights is enlarged: one that the first query
/// allows and no other forbids.
std::optional<double> common_factor(const std::vector<Query>& queries) {
  const auto says_most = std::ranges::max_element(queries, {}, [](const Query& query) {
    double certainty = 0;
    for (std::size_t e = 0; e < query.wanted.size(); ++e)
      certainty = std::max(certainty, std::abs(query.wanted[e]) / query.allowed[e]);
    return certainty;
  });
  std::optional<double> found;
  double least = HUGE_VAL;
  std::size_t tried = 0;
  for (std::size_t subset = 1; subset < says_most->subsets(); ++subset) {
    const double c = says_most->factor(subset);
    // p up to 0.95; no enlargement is no dropout.
    if (!(c > 1.001 && c < 20) || says_most->off(subset, c) > 1) continue;
    constexpr std::size_t most_tried = 64;
    if (++tried > most_tried) return std::nullopt;
    double worst = 0;
    for (const Query& query : queries) {
      worst = std::max(worst, query.best(c).second);
      if (worst > 1) break;
    }
    if (worst <= 1 && worst < least) {
      least = worst;
      found = c;
    }
  }
  return found;
}

}  // namespace

std::optional<Dropped> dropped_keys(const Case& the_case) {
  const std::optional<UserHeads> heads = user_heads(the_case);
  if (!heads) return std::nullopt;
  const Followed followed = follow(the_case, "attn");
  const std::vector<Query> queries = read_queries(the_case, followed.held, *heads);
  if (queries.size() < 2) return std::nullopt;
  const std::optional<double> c = common_factor(queries);
  if (!c) return std::nullopt;
  Dropped dropped{.enlargement = *c};
  dropped.kept = Tensor<double, 4>::make(followed.held.at("attn").sizes());
  for (const Query& query : queries) {
    const std::size_t subset = query.best(*c).first;
    for (std::size_t bit = 0; bit < query.keys.size(); ++bit) {
      dropped.kept(query.b, query.h, query.l, query.keys[bit]) =
          static_cast<double>((subset >> bit) & 1);
    }
  }
  return dropped;
}

}  // namespace qkv::faults
