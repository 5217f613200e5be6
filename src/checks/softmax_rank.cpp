// softmax.rank: log attn, centred by row, has rank D at most where only q*k^T made it.
#include "qkv/checks/softmax_rank.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "checks.hpp"
#include "qkv/base/text.hpp"
#include "rounding.hpp"
#include "row_sums.hpp"
#include "rows.hpp"
#include "sampled_head.hpp"

namespace qkv::checks {

namespace {

/// At most this many queries and keys of a head are looked at, however many there are.
constexpr std::size_t most_sampled = 512;
/// A rank that is too high is counted up to this, for the message.
constexpr std::size_t most_counted = 128;
/// Multiply-adds over all heads: less than a second.
constexpr double most_work = 2e8;

/// Why scores are more than q*k^T here, "" where they are not.
template <class T>
std::string more_than_qk(const Evidence<T>& evidence) {
  if (evidence.sizes.D == 0) return "needs D, the width of q and k";
  if (evidence.settings.softcap)
    return "the softcap is not linear: its scores have no rank to keep";
  if (after_dropout(evidence)) return "weights were dropped: what is left has no rank to keep";
  if (evidence.visibility == nullptr) return {};
  if (!evidence.visibility->slopes.empty())
    return "linear biases were added to the scores: they are more than q*k^T";
  if (evidence.visibility->added.empty()) return {};
  const auto added = evidence.visibility->added.elements();
  const bool biased =
      std::ranges::any_of(added, [](T value) { return std::isfinite(value) && value != 0; });
  return biased ? "a mask was added to the scores: they are more than q*k^T" : "";
}

}  // namespace

/// rank(log attn, centred by row) <= D in each head, over queries and keys that all see each other:
/// log attn[i,j] = scale * q_i*k_j - lse_i, and centring the rows removes lse.
///
/// edge    at most 512 queries and keys of a head are looked at, evenly spaced
template <class T>
CheckResult softmax_rank(const Evidence<T>& evidence) {
  if (const std::string why = attn_missing(evidence); !why.empty()) return skipped("attn", why);
  if (const std::string why = more_than_qk(evidence); !why.empty()) return skipped("attn", why);
  const auto& attn = evidence.attn;
  const std::size_t D = evidence.sizes.D, L = attn.size(2), S = attn.size(3);
  const std::string width = "D = " + std::to_string(D);
  const std::string no_limit =
      width + " limits nothing here: it takes more than D queries that see more than D + 1 keys";
  if (D >= std::min(L, S - 1)) return skipped("attn", no_limit);
  if (D >= most_sampled) {
    return skipped("attn", width + " is more than the " + std::to_string(most_sampled) +
                               " queries and keys of a head that are looked at");
  }

  // Twice the rank that is looked for leaves a choice of good pivots; a triangle is seen in full by
  // half of its rows and columns.
  const bool ruled = evidence.visibility != nullptr && evidence.visibility->any();
  const std::size_t sampled = std::clamp<std::size_t>((ruled ? 4 : 2) * (D + 1), 64, most_sampled);
  const Indices queries = evenly(L, sampled), keys = evenly(S, sampled);
  const double work = static_cast<double>((D + 1) * queries.size() * keys.size());
  const Indices heads =
      evenly(attn.size(0) * attn.size(1),
             std::max<std::size_t>(1, static_cast<std::size_t>(most_work / work)));
  const Rounding rounding = rounding_of(evidence);

  std::size_t judged = 0, off = 0, worst = 0;
  RankFinding finding;
  for (const std::size_t n : heads) {
    const std::size_t b = n / attn.size(1), h = n % attn.size(1);
    const SampledHead head = sample_head(evidence, b, h, queries, keys, rounding);
    if (D >= std::min(head.attn.size(0), std::max<std::size_t>(head.attn.size(1), 1) - 1)) continue;
    ++judged;
    const RankFinding found = log_rank(head.attn, head.log_errors, D + 1);
    if (found.rank > D) ++off;
    if (judged == 1 || found.rank > finding.rank) {
      finding = found;
      worst = n;
    }
  }
  if (judged == 0) return skipped("attn", no_limit);

  CheckResult result{.stage = "attn", .status = Status::pass, .limit = static_cast<double>(D)};
  if (evidence.sizes.has_batch) result.at.push_back(worst / attn.size(1));
  if (evidence.sizes.has_heads) result.at.push_back(worst % attn.size(1));
  if (off > 0) {
    const SampledHead head =
        sample_head(evidence, worst / attn.size(1), worst % attn.size(1), queries, keys, rounding);
    const RankFinding whole = log_rank(head.attn, head.log_errors, std::max(D + 1, most_counted));
    if (whole.rank > finding.rank) finding = whole;
    result.status = Status::fail;
    result.message = "log attn, centred by row, has rank " + std::to_string(finding.rank) +
                     " at least, q*k^T with " + width + " gives " + std::to_string(D) +
                     " at most " + out_of(off, judged, "heads");
    result.hint =
        "no such q and k exist: something was added to the scores, heads were averaged, "
        "weights were dropped, or D is another";
  } else {
    result.message = "log attn, centred by row, has rank " + std::to_string(finding.rank) +
                     " above its rounding (limit " + width + ")";
  }
  result.value = static_cast<double>(finding.rank);
  if (queries.size() < L || keys.size() < S || heads.size() < attn.size(0) * attn.size(1)) {
    result.message += "; sampled: " + std::to_string(queries.size()) + " queries and " +
                      std::to_string(keys.size()) + " keys of " + std::to_string(heads.size()) +
                      " heads";
  }
  return result;
}

template CheckResult softmax_rank(const Evidence<float>&);
template CheckResult softmax_rank(const Evidence<double>&);

}  // namespace qkv::checks
