// Head statistics: where the weights of each head go. Not a check: no number of them is wrong.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "qkv/checks/check.hpp"

namespace qkv {

/// Means over the batch and the queries that see a key; nothing where there is no such query.
struct HeadStatistics {
  std::size_t head = 0;
  std::optional<double> entropy = {};        ///< nats
  std::optional<double> entropy_share = {};  ///< of ln(keys seen); queries that see two or more
  std::optional<double> max = {};            ///< greatest weight of a query
  std::optional<double> self = {};           ///< weight on the key at the query's own position
  std::optional<double> previous = {};       ///< weight on the key before it
  std::optional<double> first = {};          ///< weight on key 0
};

/// entropy[h] = mean over (b,i) of -sum_s attn[b,h,i,s] * ln attn[b,h,i,s]
///
/// shape   attn (B,H,L,S) -> H rows; none without attn, or of one key
/// range   entropy in nats, 0 to ln(S); the others are shares of 1
/// edge    a query that sees no key is left out, of all rules or, where these are not known, with
///         weights that are all 0; self and previous are over the queries whose position i + offset
///         (as in the causal rule), or the one before, is that of a key. There is none where keys
///         come from another sequence, or are not as many as queries and no rule says how they
///         stand to each other; a NaN makes its head's numbers NaN
/// cost    one pass over attn
template <class T>
std::vector<HeadStatistics> head_statistics(const Evidence<T>& evidence, std::size_t threads = 1);

}  // namespace qkv
