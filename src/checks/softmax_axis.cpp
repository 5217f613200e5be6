// softmax.axis: no other axis sums to 1 in place of the last.
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "checks.hpp"
#include "qkv/base/text.hpp"
#include "rounding.hpp"
#include "row_sums.hpp"
#include "rows.hpp"

namespace qkv::checks {

namespace {

/// Some of the axes of attn, all elements of which a wrong softmax may have normalised together.
struct Axes {
  std::array<bool, 4> summed;  ///< of B, H, L, S
  std::string words;
};

/// True where every sum over these axes is 1; sums of which nobody sees a term say nothing.
template <class T>
bool sums_to_one(const Evidence<T>& evidence, const Axes& axes, const Rounding& rounding) {
  const auto& attn = evidence.attn;
  const bool ruled = evidence.visibility != nullptr && evidence.visibility->any();
  std::array<std::size_t, 4> outer{}, inner{};
  std::size_t terms = 1;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    outer[axis] = axes.summed[axis] ? 1 : attn.size(axis);
    inner[axis] = axes.summed[axis] ? attn.size(axis) : 1;
    terms *= inner[axis];
  }
  const double tolerance = sum_tolerance(rounding, terms);
  bool any = false;
  for (std::size_t n = 0; n < attn.size() / terms; ++n) {
    const std::size_t j0 = n % outer[3], i0 = n / outer[3] % outer[2];
    const std::size_t h0 = n / outer[3] / outer[2] % outer[1];
    const std::size_t b0 = n / outer[3] / outer[2] / outer[1];
    CarefulSum sum;
    bool seen = false;
    for (std::size_t b = b0; b < b0 + inner[0]; ++b) {
      for (std::size_t h = h0; h < h0 + inner[1]; ++h) {
        for (std::size_t i = i0; i < i0 + inner[2]; ++i) {
          for (std::size_t j = j0; j < j0 + inner[3]; ++j) {
            sum.add(static_cast<double>(attn(b, h, i, j)));
            seen = seen || !ruled || !evidence.visibility->hidden(b, h, i, j);
          }
        }
      }
    }
    if (!seen) continue;
    any = true;
    if (!(std::abs(sum.value() - 1) <= tolerance)) return false;
  }
  return any;
}

/// The candidates, with the numbers that the axes have in the user's tensor.
template <class T>
std::vector<Axes> other_axes(const Evidence<T>& evidence) {
  const bool batch = evidence.sizes.has_batch || evidence.attn.size(0) > 1;
  const bool heads = evidence.sizes.has_heads || evidence.attn.size(1) > 1;
  const std::size_t head_axis = batch ? 1 : 0, query_axis = head_axis + (heads ? 1 : 0);
  const auto numbered = [](const char* words, std::size_t axis) {
    return std::string(words) + " (axis " + std::to_string(axis) + ")";
  };
  std::vector<Axes> axes;
  axes.push_back({{false, false, true, false}, numbered("the query axis", query_axis)});
  if (heads) axes.push_back({{false, true, false, false}, numbered("the head axis", head_axis)});
  if (batch) axes.push_back({{true, false, false, false}, numbered("the batch axis", 0)});
  axes.push_back({{false, false, true, true}, "each whole matrix of queries and keys"});
  if (evidence.attn.size(0) * evidence.attn.size(1) > 1) {
    axes.push_back({{true, true, true, true}, "the whole tensor"});
  }
  return axes;
}

}  // namespace

/// sum over the last axis is 1; where it is not, the axis or axes over which the sum is.
///
/// edge    an axis of length 1 "sums to 1" where all weights are 1: that is what a softmax over it
///         gives. With one key a row the right softmax gives the same, and nothing can be told.
template <class T>
CheckResult softmax_axis(const Evidence<T>& evidence) {
  if (const std::string why = attn_missing(evidence); !why.empty()) return skipped("attn", why);
  const Rounding rounding = rounding_of(evidence);
  const double tolerance = sum_tolerance(rounding, evidence.attn.size(3));
  Sight<T> sight(evidence);
  RowSums<T> right(evidence);
  Worst worst;
  bool choice = false;
  for_each_row(evidence.attn, [&](std::size_t b, std::size_t h, std::size_t i, auto row) {
    const std::size_t seen = sight.look(b, h, i, row.size());
    if (seen == 0) return;
    choice = choice || seen > 1;
    CarefulSum sum;
    for (const T weight : row) sum.add(static_cast<double>(weight));
    worst.see(right.of(b, h, i).off(sum.value()), tolerance, b, h, i);
  });
  if (worst.judged() == 0) return skipped("attn", "no query sees a key");
  if (worst.off() == 0 && !choice) {
    return skipped("attn",
                   "no query sees more than one key: a softmax over any axis of length 1 "
                   "gives the same");
  }

  CheckResult result{.stage = "attn",
                     .status = Status::pass,
                     .value = worst.measure(),
                     .limit = tolerance,
                     .at = worst.row(evidence)};
  if (worst.off() == 0) {
    result.message = "the last axis, over the keys, sums to " + right.words();
    return result;
  }
  std::vector<std::string> instead;
  for (const Axes& axes : other_axes(evidence)) {
    if (sums_to_one(evidence, axes, rounding)) instead.push_back(axes.words);
  }
  if (instead.empty()) {
    // Nothing to hold against this limit: how far the rows are off is softmax.row_sum's business.
    result.value.reset();
    result.limit.reset();
    result.at.clear();
    result.message = "the last axis does not sum to 1 (softmax.row_sum), but no other does either";
    return result;
  }
  result.status = Status::fail;
  result.message = "the sum is 1 over " + listed(instead, "and over") +
                   ", not over the keys, the last axis " +
                   out_of(worst.off(), worst.judged(), "rows are off");
  result.hint = "take the softmax over the last axis: softmax(scores, axis=-1)";
  return result;
}

template CheckResult softmax_axis(const Evidence<float>&);
template CheckResult softmax_axis(const Evidence<double>&);

}  // namespace qkv::checks
