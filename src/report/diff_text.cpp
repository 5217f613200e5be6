// diff as text: the verdict first, then how far and where.
#include <fmt/format.h>

#include <cmath>

#include "qkv/base/text.hpp"
#include "qkv/report/report.hpp"
#include "report/diff_parts.hpp"
#include "report/number_digits.hpp"
#include "report/style.hpp"
#include "report/table.hpp"

namespace qkv {

namespace {

std::string tolerance_text(const Tolerance& tolerance) {
  return fmt::format("rtol {} atol {}{}", number_text(tolerance.rtol), number_text(tolerance.atol),
                     tolerance.equal_nan ? ", NaN equal to NaN" : "");
}

/// Three significant digits, rounded so that some is never "0 %" and not all is never "100 %".
std::string percent(const Comparison& comparison) {
  if (comparison.differing == comparison.count) return "100 %";
  const double share = 100 * differing_share(comparison);
  return share > 99.9 ? "99.9 %" : fmt::format("{:.3g} %", share);
}

std::string verdict(const Comparison& found, const Tolerance& tolerance) {
  if (found.differing > 0) {
    return fmt::format("differ: {} of {} elements ({}), {}", found.differing, found.count,
                       percent(found), tolerance_text(tolerance));
  }
  if (found.count == 0) return "equal: no elements on either side";
  if (found.max_abs == 0) return fmt::format("equal: all {} elements are the same", found.count);
  return fmt::format("equal within {}: all {} elements", tolerance_text(tolerance), found.count);
}

}  // namespace

std::string diff_text(const DiffReport& report, const TextStyle& style) {
  const Comparison& found = report.comparison;
  const auto at = [&](std::size_t position) {
    return report.shape.empty() ? std::string("the only element")
                                : index_text(index_of(position, report.shape));
  };
  const auto pair = [&](double a, double b) {
    return scalar_text(a, report.dtype_a) + " and " + scalar_text(b, report.dtype_b);
  };

  std::string text = verdict(found, report.tolerance) + '\n';
  if (found.differing > 0) {
    text += fmt::format("first difference at {}: {}\n", at(found.first_at),
                        pair(report.first_a, report.first_b));
  }
  if (found.non_finite_differing > 0) {
    text += fmt::format("NaN or infinity on a side: {} of those that differ, the first at {}: {}\n",
                        found.non_finite_differing, at(found.max_abs_at),
                        pair(report.value_a, report.value_b));
    if (found.finite_max_abs > 0) {
      text += fmt::format("greatest absolute difference of finite pairs {} at {}\n",
                          short_number(found.finite_max_abs), at(found.finite_max_abs_at));
    }
  } else if (found.max_abs > 0) {
    text += fmt::format("greatest absolute difference {} at {}: {}\n", short_number(found.max_abs),
                        at(found.max_abs_at), pair(report.value_a, report.value_b));
  }
  if (found.max_rel > 0) {
    text += fmt::format("greatest relative difference {} at {}\n", short_number(found.max_rel),
                        at(found.max_rel_at));
  }
  if (found.max_ulp > 0 && found.max_ulp != no_ulp) {
    const bool b_is_coarser =
        !is_float(report.dtype_a) || epsilon(report.dtype_b) > epsilon(report.dtype_a);
    text += fmt::format("greatest distance {} steps of {} (ULP)\n", found.max_ulp,
                        name(b_is_coarser ? report.dtype_b : report.dtype_a));
  }
  Table files({{}, {}, {}, {}});
  files.add({"a", shown(escaped(report.a), style), shape_text(report.shape),
             std::string(name(report.dtype_a))});
  files.add({"b", shown(escaped(report.b), style), shape_text(report.shape),
             std::string(name(report.dtype_b))});
  return text + files.text();
}

}  // namespace qkv
