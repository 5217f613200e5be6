// mask.empty_rows: every query sees a key.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "checks.hpp"
#include "qkv/base/text.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

constexpr std::size_t most_named = 4;

struct EmptyRowsFound {
  std::size_t count = 0, queries = 0;
  std::vector<std::vector<std::size_t>> first;  ///< the first few, as the user indexes them

  template <class T>
  void see(const Evidence<T>& evidence, bool empty, std::size_t b, std::size_t h, std::size_t i) {
    ++queries;
    if (!empty) return;
    ++count;
    if (first.size() < most_named) first.push_back(evidence.at(b, h, i));
  }
};

}  // namespace

/// Queries from which every key is hidden, by the rules, or by masked where only that is known.
template <class T>
CheckResult mask_empty_rows(const Evidence<T>& evidence) {
  EmptyRowsFound found;
  const char* stage = "mask";
  if (evidence.visibility != nullptr) {
    const Visibility<T>& visibility = *evidence.visibility;
    if (!visibility.any()) return skipped("mask", "nothing is hidden here");
    if (visibility.S == 0) return skipped("mask", "there is no key");
    for (std::size_t b = 0; b < visibility.B; ++b) {
      for (std::size_t h = 0; h < visibility.H; ++h) {
        for (std::size_t i = 0; i < visibility.L; ++i) {
          found.see(evidence, visibility.empty_row(b, h, i), b, h, i);
        }
      }
    }
  } else if (!evidence.masked.empty() && evidence.masked.size() > 0) {
    stage = "masked";
    for_each_row(evidence.masked, [&](std::size_t b, std::size_t h, std::size_t i, auto row) {
      const bool empty =
          std::ranges::all_of(row, [](T x) { return x == -std::numeric_limits<T>::infinity(); });
      found.see(evidence, empty, b, h, i);
    });
  } else {
    return skipped("mask", "needs a mask, or masked: what is hidden is not known");
  }
  if (found.queries == 0) return skipped(stage, "there is no query");

  CheckResult result{.stage = stage,
                     .status = Status::pass,
                     .value = static_cast<double>(found.count),
                     .limit = 0};
  if (found.count == 0) {
    result.message = "0 of " + std::to_string(found.queries) + " queries see no key";
    return result;
  }
  std::vector<std::string> rows;
  for (const auto& row : found.first) rows.push_back(index_text(row));
  if (found.count > rows.size())
    rows.push_back(std::to_string(found.count - rows.size()) + " more");
  result.status = Status::warn;
  result.at = found.first.front();
  result.message = std::string(found.count == 1 ? "row " : "rows ") + listed(rows) +
                   (found.count == 1 ? " sees" : " see") + " no key " +
                   out_of(found.count, found.queries, "rows") + "; their weights are " +
                   empty_weight_text(evidence.settings.empty_rows) + " (--empty-rows)";
  result.hint = "systems disagree on such rows (0, NaN, 1/S, or no mask at all): do not read them";
  return result;
}

template CheckResult mask_empty_rows(const Evidence<float>&);
template CheckResult mask_empty_rows(const Evidence<double>&);

}  // namespace qkv::checks
