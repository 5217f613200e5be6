// Non-finite values in stages: counting and explaining them.
#include "non_finite.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "qkv/base/text.hpp"
#include "qkv/tensor/dtype.hpp"
#include "rounding.hpp"

namespace qkv::checks {

namespace {

/// Without a branch for each element: nearly every row is.
template <class T>
bool all_finite(std::span<const T> row) {
  unsigned any = 0;
  for (const T value : row) any |= std::abs(value) <= std::numeric_limits<T>::max() ? 0U : 1U;
  return any == 0;
}

bool one_of(std::string_view stage, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), stage) != names.end();
}

/// True where [b,h,i,.] of a stage after the softmax belongs to a query that sees no key.
template <class T>
bool in_empty_row(const Evidence<T>& evidence, std::string_view stage, std::size_t b, std::size_t h,
                  std::size_t i) {
  if (evidence.visibility == nullptr || !evidence.visibility->any()) return false;
  const Visibility<T>& visibility = *evidence.visibility;
  if (one_of(stage, {"attn", "dropped", "heads"})) return visibility.empty_row(b, h, i);
  if (!one_of(stage, {"concat", "out"})) return false;
  const Sizes& sizes = evidence.sizes;
  if (stage == "out" && sizes.rank_four && !sizes.has_wo) {
    const bool blhd = evidence.settings.layout == Layout::blhd;
    return blhd ? visibility.empty_row(b, i, h) : visibility.empty_row(b, h, i);
  }
  // Heads lie side by side here: one NaN head is enough.
  for (std::size_t head = 0; head < visibility.H; ++head) {
    if (visibility.empty_row(b, head, i)) return true;
  }
  return false;
}

/// True where every non-finite row of k or v is hidden from all queries of its batch row.
template <class T>
bool only_behind_mask(const Evidence<T>& evidence, const Tensor<T, 4>& tensor) {
  if (evidence.visibility == nullptr || !evidence.visibility->any()) return false;
  const Visibility<T>& visibility = *evidence.visibility;
  const std::size_t first_key = visibility.S - tensor.size(2);  // the cache comes first
  for (std::size_t b = 0; b < tensor.size(0); ++b) {
    for (std::size_t g = 0; g < tensor.size(1); ++g) {
      for (std::size_t j = 0; j < tensor.size(2); ++j) {
        const bool finite =
            std::ranges::all_of(tensor.row(b, g, j), [](T value) { return std::isfinite(value); });
        if (finite) continue;
        for (std::size_t h = 0; h < visibility.H; ++h) {
          for (std::size_t i = 0; i < visibility.L; ++i) {
            if (!visibility.hidden(b, h, i, first_key + j)) return false;
          }
        }
      }
    }
  }
  return true;
}

template <class T>
std::string beyond_largest(const Evidence<T>& evidence) {
  const double eps = rounding_of(evidence).eps;
  if (eps == epsilon(DType::float16)) return "beyond the largest float16, 65504";
  if (eps == epsilon(DType::bfloat16)) return "beyond the largest bfloat16, 3.39e+38";
  if (eps < epsilon(DType::float32)) return "beyond the largest float64, 1.8e+308";
  return "beyond the largest float32, 3.4e+38";
}

template <class T>
Explanation explain_masked(const Evidence<T>& evidence, const NonFinite& found) {
  if (evidence.visibility != nullptr &&
      !std::isfinite(evidence.visibility->bias(found.b, found.h, found.i, found.j))) {
    return {"the mask that is added holds it", "a mask may hold -Inf, but neither NaN nor +Inf"};
  }
  return {"the scores before it are finite",
          "a fill that overflowed to -Inf, times 0 for the keys that are kept, is NaN: select "
          "instead of multiplying"};
}

template <class T>
Explanation explain_attn(const Evidence<T>& evidence, const NonFinite& found) {
  bool empty = in_empty_row(evidence, "attn", found.b, found.h, found.i);
  if (!evidence.masked.empty()) {
    empty = empty || std::ranges::all_of(evidence.masked.row(found.b, found.h, found.i), [](T x) {
              return x == -std::numeric_limits<T>::infinity();
            });
  }
  if (empty) {
    return {"this query sees no key, and the softmax of nothing is 0/0",
            "--empty-rows nan if that is meant; else give such rows 0"};
  }
  return {
      "the scores before it are finite",
      "exp overflows above 88.7 in float32 and 11.1 in float16: subtract the row maximum first"};
}

}  // namespace

template <class T>
NonFinite non_finite_in(const Evidence<T>& evidence, std::string_view stage,
                        const Tensor<T, 4>& tensor) {
  NonFinite found;
  const bool masked = stage == "masked";
  const bool nan_meant = evidence.settings.empty_rows == EmptyRows::nan;
  for (std::size_t b = 0; b < tensor.size(0); ++b) {
    for (std::size_t h = 0; h < tensor.size(1); ++h) {
      for (std::size_t i = 0; i < tensor.size(2); ++i) {
        const auto row = tensor.row(b, h, i);
        if (all_finite(row)) continue;
        for (std::size_t j = 0; j < row.size(); ++j) {
          if (std::isfinite(row[j]) || (masked && row[j] < 0)) continue;
          if (std::isnan(row[j]) && nan_meant && in_empty_row(evidence, stage, b, h, i)) {
            found.meant += row.size() - j;  // the rest of the row is NaN for the same reason
            break;
          }
          if (found.count() == 0) found.b = b, found.h = h, found.i = i, found.j = j;
          ++(std::isnan(row[j]) ? found.nan : row[j] > 0 ? found.pos_inf : found.neg_inf);
        }
      }
    }
  }
  return found;
}

template <class T>
Explanation explain(const Evidence<T>& evidence, std::string_view stage, const Tensor<T, 4>& tensor,
                    const NonFinite& found) {
  const std::string beyond = beyond_largest(evidence);
  if (one_of(stage, {"x", "context", "q", "k", "v"})) {
    const bool given = one_of(stage, {"x", "context"}) || !evidence.sizes.projects;
    const bool rounded = evidence.settings.arithmetic != Arithmetic::native;
    Explanation reason{
        given ? "the input holds it" + (rounded ? ", or a number " + beyond : "")
              : "x is finite: the weight or bias holds it, or the product is " + beyond,
        "mend the inputs first (input.finite names them)"};
    if (one_of(stage, {"k", "v"}) && only_behind_mask(evidence, tensor)) {
      reason.why += "; only at keys that are hidden from every query";
      reason.hint = stage == "v" ? "0*NaN is NaN: a value must be finite even where its weight is 0"
                                 : "harmless where hidden scores are replaced, not where a mask is "
                                   "added: NaN + -Inf is NaN";
    }
    return reason;
  }
  if (stage == "q_rope" || stage == "k_rope") {
    return {"q and k before the rotation are finite: --position holds it, or a turned pair is " +
                beyond,
            "look at --rope and --position"};
  }
  if (stage == "scores") {
    const bool cached = evidence.sizes.P > 0;
    return {
        std::string("q and k are finite: ") + (cached ? "the cache holds it, or " : "") +
            "the product is " + beyond,
        "scale q before the product, or compute in a type with a wider range (bfloat16, float32)"};
  }
  if (stage == "scaled") {
    return {"scores is finite: times the scale it is " + beyond,
            "look at --scale and --temperature"};
  }
  if (stage == "masked") return explain_masked(evidence, found);
  if (stage == "attn") return explain_attn(evidence, found);
  if (stage == "heads") {
    return {evidence.sizes.P > 0
                ? "attn is finite: v or its cache holds it, or the sum is " + beyond
                : "attn is finite: v holds it, or the sum is " + beyond,
            "0*NaN is NaN: a value must be finite even where its weight is 0"};
  }
  if (stage == "out")
    return {"what goes into it is finite: W_O or its bias holds it, or the product is " + beyond,
            ""};
  return {"every stage before it is finite", ""};
}

template NonFinite non_finite_in(const Evidence<float>&, std::string_view, const Tensor<float, 4>&);
template NonFinite non_finite_in(const Evidence<double>&, std::string_view,
                                 const Tensor<double, 4>&);
template Explanation explain(const Evidence<float>&, std::string_view, const Tensor<float, 4>&,
                             const NonFinite&);
template Explanation explain(const Evidence<double>&, std::string_view, const Tensor<double, 4>&,
                             const NonFinite&);

}  // namespace qkv::checks
