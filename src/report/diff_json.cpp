// diff as JSON, schema qkv.diff/1.
#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"
#include "report/diff_parts.hpp"
#include "report/json_parts.hpp"

namespace qkv {

std::string diff_json(const DiffReport& report) {
  const Comparison& found = report.comparison;
  const auto at = [&](std::size_t position) {
    return found.count == 0 ? Json() : json_array(index_of(position, report.shape));
  };
  Json max_abs = Json::object();
  max_abs.add("value", found.max_abs).add("at", at(found.max_abs_at));
  max_abs.add("a", report.value_a).add("b", report.value_b);
  Json finite_max_abs = Json::object();
  finite_max_abs.add("value", found.finite_max_abs).add("at", at(found.finite_max_abs_at));
  Json max_rel = Json::object();
  max_rel.add("value", found.max_rel).add("at", at(found.max_rel_at));
  Json first;
  if (found.differing > 0) {
    first = Json::object();
    first.add("at", at(found.first_at)).add("a", report.first_a).add("b", report.first_b);
  }

  Json document = Json::object();
  document.add("schema", "qkv.diff/1")
      .add("a", report.a)
      .add("b", report.b)
      .add("shape", json_array(report.shape))
      .add("dtypes", Json::array({Json(name(report.dtype_a)), Json(name(report.dtype_b))}))
      .add("rtol", report.tolerance.rtol)
      .add("atol", report.tolerance.atol)
      .add("equal_nan", report.tolerance.equal_nan)
      .add("equal", found.differing == 0)
      .add("count", found.count)
      .add("differing", found.differing)
      .add("share", differing_share(found))
      .add("max_abs", std::move(max_abs))
      .add("finite_max_abs", std::move(finite_max_abs))
      .add("max_rel", std::move(max_rel))
      .add("first", std::move(first))
      .add("max_ulp", found.max_ulp == no_ulp ? Json() : Json(std::size_t{found.max_ulp}))
      .add("non_finite", found.non_finite_differing);
  return document.dump();
}

}  // namespace qkv
