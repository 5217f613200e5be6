// diff_text(), diff_json(): the verdict first, then how far and where.
#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"

using namespace qkv;

namespace {

DiffReport differing() {
  return {.a = "out.npy",
          .b = "ref.npy",
          .shape = {1, 4, 64},
          .dtype_a = DType::float32,
          .dtype_b = DType::float64,
          .tolerance = {.rtol = 1.3e-6, .atol = 1e-5},
          .comparison = {.count = 256,
                         .differing = 12,
                         .max_abs = 1.32,
                         .max_abs_at = 3 * 64 + 5,
                         .max_rel = 0.725,
                         .max_rel_at = 3,
                         .first_at = 1,
                         .max_ulp = 110,
                         .finite_max_abs = 1.32,
                         .finite_max_abs_at = 3 * 64 + 5},
          .value_a = 0.5,
          .value_b = 1.82,
          .first_a = static_cast<double>(0.1f),
          .first_b = 0.2};
}

DiffReport with_nan() {
  DiffReport report = differing();
  report.comparison.non_finite_differing = 2;
  report.comparison.max_abs = std::nan("");
  report.comparison.max_abs_at = 7;
  report.comparison.max_ulp = no_ulp;
  report.value_a = std::nan("");
  return report;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

TEST_CASE(
    "diff_text: how many, where first, how far and where, each value in its own type's digits") {
  CHECK(diff_text(differing(), {}) ==
        "differ: 12 of 256 elements (4.69 %), rtol 1.3e-06 atol 1e-05\n"
        "first difference at [0,0,1]: 0.1 and 0.2\n"
        "greatest absolute difference 1.32 at [0,3,5]: 0.5 and 1.82\n"
        "greatest relative difference 0.725 at [0,0,3]\n"
        "greatest distance 110 steps of float32 (ULP)\n"
        "a  out.npy  (1,4,64)  float32\n"
        "b  ref.npy  (1,4,64)  float64\n");
}

TEST_CASE("diff_text: a NaN is shown before the greatest difference of the rest") {
  CHECK(diff_text(with_nan(), {}) ==
        "differ: 12 of 256 elements (4.69 %), rtol 1.3e-06 atol 1e-05\n"
        "first difference at [0,0,1]: 0.1 and 0.2\n"
        "NaN or infinity on a side: 2 of those that differ, the first at [0,0,7]: nan and 1.82\n"
        "greatest absolute difference of finite pairs 1.32 at [0,3,5]\n"
        "greatest relative difference 0.725 at [0,0,3]\n"
        "a  out.npy  (1,4,64)  float32\n"
        "b  ref.npy  (1,4,64)  float64\n");
}

TEST_CASE("diff_text: equal says how nearly") {
  DiffReport report = differing();
  report.comparison = {.count = 256, .max_abs = 1e-7, .max_rel = 1e-6, .max_ulp = 3};
  CHECK(first_line(diff_text(report, {})) ==
        "equal within rtol 1.3e-06 atol 1e-05: all 256 elements");
  report.comparison = {.count = 256};
  CHECK(diff_text(report, {}) ==
        "equal: all 256 elements are the same\n"
        "a  out.npy  (1,4,64)  float32\n"
        "b  ref.npy  (1,4,64)  float64\n");
  report.comparison = {};
  CHECK(first_line(diff_text(report, {})) == "equal: no elements on either side");
}

TEST_CASE("diff_text: some is never 0 % and not all is never 100 %") {
  DiffReport report = differing();
  const auto share = [&](std::size_t off, std::size_t count) {
    report.comparison.differing = off;
    report.comparison.count = count;
    const std::string line = first_line(diff_text(report, {}));
    return line.substr(line.find('('), line.find(')') - line.find('(') + 1);
  };
  CHECK(share(1, 1000000000) == "(1e-07 %)");
  CHECK(share(99999, 100000) == "(99.9 %)");
  CHECK(share(5, 5) == "(100 %)");
  CHECK(share(1, 3) == "(33.3 %)");
}

TEST_CASE("diff_text: a scalar has no index") {
  DiffReport report = differing();
  report.shape = {};
  report.comparison = {.count = 1, .differing = 1, .max_abs = 1, .finite_max_abs = 1};
  CHECK(diff_text(report, {}).find("first difference at the only element: 0.1 and 0.2\n") !=
        std::string::npos);
}

TEST_CASE("diff_json: schema qkv.diff/1 with the numbers that a script needs") {
  const Json document = Json::parse(diff_json(differing()), "diff");
  CHECK(document.find("schema")->text() == "qkv.diff/1");
  CHECK(document.find("a")->text() == "out.npy");
  CHECK(document.find("dtypes")->items().at(1).text() == "float64");
  CHECK(document.find("rtol")->number() == 1.3e-6);
  CHECK_FALSE(document.find("equal")->flag());
  CHECK(document.find("count")->number() == 256);
  CHECK(document.find("differing")->number() == 12);
  CHECK(document.find("share")->number() == 0.046875);
  const Json& max_abs = *document.find("max_abs");
  CHECK(max_abs.find("value")->number() == 1.32);
  CHECK(max_abs.find("at")->items().at(1).number() == 3);
  CHECK(max_abs.find("b")->number() == 1.82);
  CHECK(document.find("max_rel")->find("value")->number() == 0.725);
  CHECK(document.find("first")->find("at")->items().at(2).number() == 1);
  CHECK(document.find("max_ulp")->number() == 110);
  CHECK(document.find("non_finite")->number() == 0);
}

TEST_CASE(
    "diff_json: null where there is no number or no such place, beside the count that explains "
    "it") {
  const Json nan = Json::parse(diff_json(with_nan()), "diff");
  CHECK(nan.find("max_abs")->find("value")->kind() == Json::Kind::null);
  CHECK(nan.find("max_abs")->find("a")->kind() == Json::Kind::null);
  CHECK(nan.find("finite_max_abs")->find("value")->number() == 1.32);
  CHECK(nan.find("max_ulp")->kind() == Json::Kind::null);
  CHECK(nan.find("non_finite")->number() == 2);

  DiffReport empty = differing();
  empty.shape = {0, 4};
  empty.comparison = {};
  const Json none = Json::parse(diff_json(empty), "diff");
  CHECK(none.find("equal")->flag());
  CHECK(none.find("share")->number() == 0);
  CHECK(none.find("first")->kind() == Json::Kind::null);
  CHECK(none.find("max_abs")->find("at")->kind() == Json::Kind::null);
}
