// grad_text(), grad_json(): a row per gradient, findings, clipping, and the comparison.
#include "qkv/report/grad_report.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/base/json.hpp"

using namespace qkv;

namespace {

GradReport sample() {
  GradReport report{.headline = "attention", .grads = {{"out", {2, 2}, 2, 1, 0, 0}}};
  report.grads.push_back({"wq", {2, 3}, 5, 4, 1, 2});
  return report;
}

GradReport judged() {
  GradReport report = sample();
  report.findings.push_back({.id = "gradient.vanishes",
                             .stage = "attn",
                             .status = Status::warn,
                             .message = "2 of 2 rows",
                             .hint = "scale"});
  report.clip = GradClip{1, 5, 0.2, {"wq", "wk"}};
  report.check = {{"out", 0.0, 1e-8, Status::pass, 4, 4, ""},
                  {"wq", 0.5, 1e-8, Status::fail, 6, 60, "wq[0,1] is 1, by difference 2"},
                  {"v", {}, {}, Status::skip, 0, 4, ""}};
  return report;
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.members()) keys.push_back(key);
  return keys;
}

}  // namespace

TEST_CASE("grad_text: a row per gradient") {
  CHECK(grad_text(sample(), {}) ==
        "attention\n"
        "\n"
        "gradient of  shape  norm  max_abs  NaN  Inf\n"
        "out          (2,2)     2        1    0    0\n"
        "wq           (2,3)     5        4    1    2\n");
}

TEST_CASE("grad_text: findings, then the norm before clipping, then the comparison") {
  const std::string text = grad_text(judged(), {});
  const std::string table = grad_text(sample(), {});
  CHECK(text.substr(table.size()) ==
        "\n"
        "warn  gradient.vanishes  attn  2 of 2 rows\n"
        "      hint: scale\n"
        "\n"
        "clip  norm 5 of wq and wk together before, multiplied by 0.2 to bring it to 1\n"
        "\n"
        "      check  max_rel  limit  elements\n"
        "pass  out          0  1e-08    4 of 4\n"
        "fail  wq         0.5  1e-08   6 of 60  wq[0,1] is 1, by difference 2\n"
        "skip  v            -      -    0 of 4\n"
        "1 passed, 1 failed, 1 skipped against central differences (f64)\n");
}

TEST_CASE("grad_text: a norm within the limit, and one that is not finite, clip nothing") {
  GradReport report = sample();
  report.clip = GradClip{8, 5, 1, {"wq"}};
  CHECK(
      grad_text(report, {}).ends_with("clip  norm 5 of wq together, within 8: left as they are\n"));
  report.clip = GradClip{8, std::nan(""), 1, {"wq"}};
  CHECK(grad_text(report, {}).ends_with("clip  norm nan of wq together: nothing is clipped\n"));
}

TEST_CASE("grad_json: schema qkv.grad/1 with its keys in order") {
  const Json document = Json::parse(grad_json(judged()), "grad");
  CHECK(keys_of(document) ==
        std::vector<std::string>{"schema", "grads", "check", "findings", "clip", "status"});
  const Json& wq = document.find("grads")->items()[1];
  CHECK(keys_of(wq) == std::vector<std::string>{"of", "shape", "norm", "max_abs", "nan", "inf"});
  CHECK(wq.find("nan")->number() == 1);
  const Json& check = document.find("check")->items()[1];
  CHECK(keys_of(check) == std::vector<std::string>{"of", "max_rel", "limit", "status"});
  CHECK(check.find("status")->text() == "fail");
  CHECK(document.find("check")->items()[2].find("max_rel")->kind() == Json::Kind::null);
  CHECK(document.find("clip")->find("norm")->number() == 5);
  CHECK(document.find("status")->text() == "fail");
}

TEST_CASE("grad: the verdict is the worst of findings and comparison") {
  GradReport report = sample();
  CHECK(worst_status(report) == Status::pass);
  report.findings = judged().findings;
  CHECK(worst_status(report) == Status::warn);
  report.check = judged().check;
  CHECK(worst_status(report) == Status::fail);
}
