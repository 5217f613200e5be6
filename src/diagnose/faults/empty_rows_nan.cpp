// empty-rows-nan: a query that sees no key gets NaN.
#include <algorithm>
#include <limits>

#include "diagnose/faults.hpp"
#include "diagnose/faults/empty_rows.hpp"
#include "diagnose/faults/rules.hpp"
#include "diagnose/faults/yours.hpp"

namespace qkv::faults {

namespace {

/// Writes one number over the weights of queries that see no key.
Move empty_rows_as(const Visibility<double>& visibility, double number) {
  return [visibility, number](const Tensor<double, 4>& attn) {
    auto written = attn.clone();
    if (!fits(attn, visibility)) return written;
    for (std::size_t b = 0; b < attn.size(0); ++b) {
      for (std::size_t h = 0; h < attn.size(1); ++h) {
        for (std::size_t i = 0; i < attn.size(2); ++i) {
          if (visibility.empty_row(b, h, i)) std::ranges::fill(written.row(b, h, i), number);
        }
      }
    }
    return written;
  };
}

}  // namespace

/// The softmax of a row of -Inf is 0/0.
std::vector<Variant> empty_rows_nan(const Case& the_case) {
  const Visibility<double>& visibility = the_case.problem.visibility;
  if (visibility.empty_rows == EmptyRows::nan || !has_empty_row(visibility)) return {};
  std::string message = "your code gives NaN to queries that see no key: the softmax of -inf alone",
              fix =
                  "set such rows to 0 after the softmax; as a convention this is --empty-rows nan "
                  "(torch-mha)";
  if (rules_of(visibility).count() > 1) {
    fix +=
        "; where each mask holds the lowest number, join them by a minimum, not by a sum: the "
        "lowest number twice is -inf";
  }
  std::vector<Variant> variants;
  variants.push_back({[](Alteration& a) { set_empty_rows(a, EmptyWeights::nan); }, message, fix});
  if (visibility.empty_rows == EmptyRows::zero && the_case.got.contains("attn") &&
      gave_later(the_case, "attn")) {
    const Move to_nan = empty_rows_as(visibility, std::numeric_limits<double>::quiet_NaN()),
               to_zero = empty_rows_as(visibility, 0);
    variants.push_back({[to_nan, to_zero](Alteration& a) { a.show("attn", to_nan, to_zero); },
                        "your attn has NaN for queries that see no key, while your " +
                            first_after(the_case, "attn") +
                            " is made with weights of 0 there: two ways to treat them, not an "
                            "inconsistency between the two",
                        "read neither of them at such queries; to have weights of 0 too, set those "
                        "rows to 0 after the softmax"});
  }
  return variants;
}

}  // namespace qkv::faults
