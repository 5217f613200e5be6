// Hidden weights: the rows in which some keys are hidden and some are not.
#pragma once

#include <string>

#include "qkv/checks/check.hpp"
#include "rows.hpp"

namespace qkv::checks {

inline constexpr const char* nothing_hidden =
    "no query has a key hidden beside one that it sees: needs a mask that hides some";

/// Why hidden weights cannot be looked at, "" where they can.
template <class T>
std::string hidden_missing(const Evidence<T>& evidence) {
  if (std::string why = attn_missing(evidence); !why.empty()) return why;
  if (evidence.visibility == nullptr) return "needs a mask: what is hidden is not known";
  if (!evidence.visibility->any()) return "nothing is hidden here";
  return {};
}

/// True where hidden keys get a number in place of -Inf.
template <class T>
bool has_finite_fill(const Evidence<T>& evidence) {
  return evidence.visibility->fill.kind != Fill::Kind::negative_infinity;
}

/// visit(b, h, i, row, sight) for each query that sees a key and has one hidden.
template <class T, class Visit>
void for_each_judged_row(const Evidence<T>& evidence, Visit&& visit) {
  Sight<T> sight(evidence);
  for_each_row(evidence.attn, [&](std::size_t b, std::size_t h, std::size_t i, auto row) {
    const std::size_t seen = sight.look(b, h, i, row.size());
    if (seen > 0 && seen < row.size()) visit(b, h, i, row, sight);
  });
}

}  // namespace qkv::checks
