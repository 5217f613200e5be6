// Magnitude: a weighted mean lies between the least and the greatest of what it is a mean of.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "magnitude.hpp"
#include "qkv/base/text.hpp"
#include "rounding.hpp"
#include "rows.hpp"
#include "stages.hpp"

namespace qkv::checks {

namespace {

/// Least and greatest value of each channel, over the keys that any query of the group sees.
struct Range {
  std::vector<double> least, greatest;
  std::vector<bool> finite;  ///< also behind the mask, where 0*NaN is NaN
};

/// Keys of batch row b that some query of the heads [first, first + heads) sees.
template <class T>
std::vector<bool> seen_keys(const Evidence<T>& evidence, std::size_t b, std::size_t first,
                            std::size_t heads, std::size_t L, std::size_t S) {
  std::vector<bool> seen(S, true);
  if (evidence.visibility == nullptr || !evidence.visibility->any()) return seen;
  // A finite fill leaves hidden keys a share: how large is mask.leak's question.
  if (evidence.visibility->fill.kind != Fill::Kind::negative_infinity) return seen;
  for (std::size_t j = 0; j < S; ++j) {
    bool any = false;
    for (std::size_t h = first; h < first + heads && !any; ++h) {
      for (std::size_t i = 0; i < L && !any; ++i) any = !evidence.visibility->hidden(b, h, i, j);
    }
    seen[j] = any;
  }
  return seen;
}

template <class T>
Range range_of(const Tensor<T, 4>& v, std::size_t b, std::size_t g, const std::vector<bool>& seen) {
  const std::size_t Dv = v.size(3);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Range range{std::vector<double>(Dv, infinity), std::vector<double>(Dv, -infinity),
              std::vector<bool>(Dv, true)};
  for (std::size_t j = 0; j < v.size(2); ++j) {
    const auto row = v.row(b, g, j);
    for (std::size_t c = 0; c < Dv; ++c) {
      const auto value = static_cast<double>(row[c]);
      if (!std::isfinite(value)) range.finite[c] = false;
      if (!seen[j]) continue;
      range.least[c] = std::min(range.least[c], value);
      range.greatest[c] = std::max(range.greatest[c], value);
    }
  }
  return range;
}

/// True for a query whose weights are meant to be no weights: it sees no key, or attn is all 0.
template <class T>
bool without_weights(const Evidence<T>& evidence, std::size_t b, std::size_t h, std::size_t i) {
  if (evidence.visibility != nullptr && evidence.visibility->any() &&
      evidence.visibility->empty_row(b, h, i)) {
    return true;
  }
  if (evidence.attn.empty()) return false;
  return std::ranges::all_of(evidence.attn.row(b, h, i), [](T weight) { return weight == 0; });
}

}  // namespace

template <class T>
CheckResult heads_within_values(const Evidence<T>& evidence) {
  const Tensor<T, 4> heads = heads_of(evidence);
  const Tensor<T, 4>& v = evidence.v;
  if (heads.empty() || v.empty()) return skipped("heads", "needs v and heads");
  const std::size_t H = heads.size(1), G = v.size(1), L = heads.size(2), S = v.size(2);
  if (heads.size() == 0 || S == 0) return skipped("heads", "there is no key, or no query");
  const Rounding rounding = rounding_of(evidence);
  // The weights sum to 1 within sum_tolerance; the sum of S products rounds like that of S weights.
  const double relative =
      sum_tolerance(rounding, S) + 2 * rounding.unit + rounding.inner * static_cast<double>(S);

  const double dropped = evidence.settings.dropout.value_or(0);
  const bool some_lost = !evidence.sinks.empty() || dropped > 0;
  const double factor = dropped > 0 ? 1 / (1 - dropped) : 1;

  Worst worst;  // how far outside, in units of the tolerance
  double worst_off = 0, worst_tolerance = 0, worst_least = 0, worst_greatest = 0;
  for (std::size_t b = 0; b < heads.size(0); ++b) {
    for (std::size_t g = 0; g < G; ++g) {
      const std::size_t first = g * (H / G);
      const Range range = range_of(v, b, g, seen_keys(evidence, b, first, H / G, L, S));
      for (std::size_t h = first; h < first + H / G; ++h) {
        for (std::size_t i = 0; i < L; ++i) {
          if (without_weights(evidence, b, h, i)) continue;
          const auto row = heads.row(b, h, i);
          for (std::size_t c = 0; c < row.size(); ++c) {
            if (!range.finite[c]) continue;  // stage.finite speaks of it
            const auto value = static_cast<double>(row[c]);
            // A sink takes a share that stands for no value; dropout takes some and enlarges
            // others.
            const double least =
                             some_lost ? factor * std::min(range.least[c], 0.0) : range.least[c],
                         greatest = some_lost ? factor * std::max(range.greatest[c], 0.0)
                                              : range.greatest[c];
            const double tolerance =
                relative * std::max(std::abs(least), std::abs(greatest)) + rounding.tiny;
            const double off =
                std::isnan(value) ? value : std::max({least - value, value - greatest, 0.0});
            if (worst.see(off / tolerance, 1, b, h, i, c)) {
              worst_off = off;
              worst_tolerance = tolerance;
              worst_least = least;
              worst_greatest = greatest;
            }
          }
        }
      }
    }
  }
  if (worst.judged() == 0) return skipped("heads", "no query has weights and finite values to mix");

  CheckResult result{.stage = "heads",
                     .status = Status::pass,
                     .value = worst_off,
                     .limit = worst_tolerance,
                     .at = worst.element(evidence)};
  if (worst.off() == 0) {
    result.message = "heads lies within the range of v";
    return result;
  }
  const auto value = static_cast<double>(heads(worst.b(), worst.h(), worst.i(), worst.j()));
  result.status = Status::fail;
  result.message = "heads is " + short_number(value) + ", v lies in " + short_number(worst_least) +
                   " to " + short_number(worst_greatest) + " there " +
                   out_of(worst.off(), worst.judged(), "values");
  result.hint = "weights that sum to 1 cannot leave it: heads is not attn*v of this v";
  return result;
}

template CheckResult heads_within_values(const Evidence<float>&);
template CheckResult heads_within_values(const Evidence<double>&);

}  // namespace qkv::checks
