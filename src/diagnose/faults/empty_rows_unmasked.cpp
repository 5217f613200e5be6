// empty-rows-unmasked: a query that sees no key gets the weights it would have without a mask.
#include <cmath>

#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/rules.hpp"

namespace qkv::faults {

namespace {

/// The scores of a query that sees no key as they were before the mask.
Tensor<double, 4> shown_where_empty(const Held& held, const Tensor<double, 4>& right) {
  const Visibility<double>& visibility = held.problem().visibility;
  if (!fits(right, visibility) || !fits(held.unmasked(), visibility)) return right;
  auto masked = right.clone();
  for (std::size_t b = 0; b < masked.size(0); ++b) {
    for (std::size_t h = 0; h < masked.size(1); ++h) {
      for (std::size_t i = 0; i < masked.size(2); ++i) {
        if (!visibility.empty_row(b, h, i)) continue;
        std::ranges::copy(held.unmasked().row(b, h, i), masked.row(b, h, i).begin());
      }
    }
  }
  return masked;
}

}  // namespace

/// A finite number added to every score of a row changes nothing, as long as the type is fine
/// enough to keep the scores beside it; or every key is shown to a query that would see none.
std::vector<Variant> empty_rows_unmasked(const Case& the_case) {
  if (!has_empty_row(the_case.problem.visibility)) return {};
  std::vector<Variant> variants;
  variants.push_back(
      {[](Alteration& a) { set_empty_rows(a, EmptyWeights::unmasked); },
       "your code gives queries that see no key the weights of the unmasked scores: a finite "
       "fill was added to all of them alike",
       "fill with -inf in place of a number, and set such rows to 0 after the softmax"});
  if (!the_case.got.contains("masked")) return variants;
  variants.push_back({[](Alteration& a) {
                        a.edit("masked", shown_where_empty);
                        set_empty_rows(a, EmptyWeights::unmasked);
                      },
                      "your code shows every key to queries that would see none",
                      "hide what the mask hides, and set such rows to 0 after the softmax"});
  return variants;
}

}  // namespace qkv::faults
