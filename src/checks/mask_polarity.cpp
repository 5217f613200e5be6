// mask.polarity: the mask hides neither nearly everything, nor the diagonal, nor real tokens.
#include <cmath>
#include <optional>
#include <string>

#include "checks.hpp"
#include "padding_by_sum.hpp"
#include "qkv/base/text.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

/// Share of the keys, or of the diagonal, that a mask of the right polarity hardly ever hides.
constexpr double nearly_all = 0.9;
/// Added values at or below this hide as -Inf does: exp(-1e4) is 0 in every type.
constexpr double as_good_as_hidden = -1e4;
/// With fewer keys than this, one visible key among hidden ones is nothing special.
constexpr std::size_t few_keys = 10;

/// What a mask of its own (B',H',L',S') hides, before it is broadcast.
struct Hidden {
  std::size_t all = 0, hidden = 0;
  std::size_t rows = 0;
  std::size_t empty = 0;  ///< rows in which it hides every key
  std::size_t whole = 0;  ///< rows in which it hides none: its inverse would hide every key
  std::size_t diagonal = 0, diagonal_hidden = 0;  ///< where L' = S' > 1
  std::size_t keys = 0;
  double share() const { return static_cast<double>(hidden) / static_cast<double>(all); }
  double diagonal_share() const {
    return diagonal == 0 ? 0 : static_cast<double>(diagonal_hidden) / static_cast<double>(diagonal);
  }
};

template <class U, std::size_t Rank, class Hides>
Hidden count_hidden(const Tensor<U, Rank>& mask, Hides hides) {
  Hidden found;
  // Padding (B,S) has no query axis, and so no diagonal even where B = S.
  const std::size_t L = mask.size(Rank - 2), S = mask.size(Rank - 1);
  const bool square = Rank == 4 && L == S && S > 1;
  found.keys = S;
  found.all = mask.size();
  if (found.all == 0) return found;
  found.rows = found.all / S;
  for (std::size_t row = 0; row < found.rows; ++row) {
    std::size_t hidden = 0;
    for (std::size_t j = 0; j < S; ++j) {
      const bool hides_it = hides(mask.data()[row * S + j]);
      if (hides_it) ++hidden;
      if (square && row % L == j) {
        ++found.diagonal;
        if (hides_it) ++found.diagonal_hidden;
      }
    }
    found.hidden += hidden;
    if (hidden == S) ++found.empty;
    if (hidden == 0) ++found.whole;
  }
  return found;
}

/// What is suspicious about it: nothing, a warning, or a failure.
CheckResult judge(const Hidden& found, const std::string& where, const std::string& hint) {
  CheckResult result{.stage = where,
                     .status = Status::pass,
                     .value = found.share(),
                     .limit = nearly_all,
                     .hint = hint};
  const auto percent = [](double share) { return short_number(100 * share) + " %"; };
  if (found.hidden == found.all) {
    result.status = Status::fail;
    result.message = "hides every key from every query";
  } else if (found.diagonal_share() >= nearly_all) {
    // A row that only this polarity leaves empty settles it; without one it may be meant.
    result.status = found.empty > found.whole ? Status::fail : Status::warn;
    result.value = found.diagonal_share();
    result.message = "hides " + percent(found.diagonal_share()) +
                     " of the diagonal: queries do not see themselves";
    if (found.empty > found.whole) {
      result.message += ", and " + std::to_string(found.empty) + " of " +
                        std::to_string(found.rows) + " rows see no key; inverted, " +
                        std::to_string(found.whole) + " would not";
    }
  } else if (found.share() >= nearly_all && found.diagonal == 0 && found.keys >= few_keys) {
    result.status = Status::warn;
    result.message = "hides " + percent(found.share()) + " of the keys";
  } else {
    result.hint.clear();
    result.message = found.hidden == 0 ? "hides nothing" : "hides " + percent(found.share());
    if (found.diagonal > 0 && found.hidden > 0) {
      result.message += ", " + percent(found.diagonal_share()) + " of the diagonal";
    }
  }
  return result;
}

std::string hint_for(MaskTrue now, const char* flag) {
  return std::string("inverted? ") + flag + (now == MaskTrue::attend ? " hide" : " attend") +
         " reads it the other way round";
}

/// What the user calls the mask.
std::string where_of(const Inputs* inputs, const std::optional<NamedArray> Inputs::*member,
                     const char* otherwise) {
  return inputs != nullptr && inputs->*member ? (inputs->*member)->where : otherwise;
}

}  // namespace

/// Share of the keys that the mask alone hides, and of its diagonal where it is square. The same
/// for the key padding.
///
/// edge    padding that hides tokens of which some are not zero, and all sum to 0: a warning
/// edge    a square mask that keeps the diagonal may hide nearly everything else: a narrow window
template <class T>
CheckResult mask_polarity(const Evidence<T>& evidence) {
  if (evidence.visibility == nullptr) return skipped("mask", "needs a mask");
  const Visibility<T>& visibility = *evidence.visibility;
  std::optional<CheckResult> worst;
  const auto consider = [&](CheckResult result) {
    if (!worst || (result.status != Status::pass && worst->status != Status::fail)) {
      worst = std::move(result);
    }
  };
  const auto is_one = [](std::uint8_t value) { return value != 0; };
  if (!visibility.hidden_by_mask.empty() && visibility.hidden_by_mask.size() > 0) {
    consider(judge(count_hidden(visibility.hidden_by_mask, is_one),
                   where_of(evidence.inputs, &Inputs::mask, "mask"),
                   hint_for(evidence.settings.mask_true, "--mask-true")));
  }
  if (!visibility.added.empty() && visibility.added.size() > 0) {
    const auto hides = [](T value) { return static_cast<double>(value) <= as_good_as_hidden; };
    consider(judge(count_hidden(visibility.added, hides),
                   where_of(evidence.inputs, &Inputs::mask, "mask"),
                   "0 and -inf look exchanged in this added mask"));
  }
  if (!visibility.padded.empty() && visibility.padded.size() > 0) {
    consider(judge(count_hidden(visibility.padded, is_one),
                   where_of(evidence.inputs, &Inputs::key_padding, "key padding"),
                   hint_for(evidence.settings.padding_true, "--padding-true")));
    if (auto found = padding_by_sum(evidence)) consider(std::move(*found));
  }
  return worst ? *worst : skipped("mask", "no mask and no key padding given");
}

template CheckResult mask_polarity(const Evidence<float>&);
template CheckResult mask_polarity(const Evidence<double>&);

}  // namespace qkv::checks
