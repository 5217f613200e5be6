// What run --fast differs by from float32: the note, and "fast" in both documents.
#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"

using namespace qkv;

namespace {

constexpr FastReport sample{.rms_error = 0.00321987, .max_error = 0.0125, .rows = 64};

void check_fast(const std::string& text) {
  const Json document = Json::parse(text, "document");
  const Json& fast = *document.find("fast");
  CHECK(fast.find("dtype")->text() == "bfloat16");
  CHECK(fast.find("rms_error")->number() == 0.00321987);
  CHECK(fast.find("max_error")->number() == 0.0125);
  CHECK(fast.find("rows")->number() == 64);
}

}  // namespace

TEST_CASE("fast_text: the relative error, the greatest difference, and of how many rows") {
  CHECK(fast_text(sample) ==
        "--fast bf16: 0.00322 relative error against float32 (root mean square), greatest "
        "difference 0.0125, in 64 rows of heads");
}

TEST_CASE("run_json and time_json: fast where there was a fast run, and only there") {
  check_fast(run_json({}, "out.npy", "fast-bf16/amx", sample));
  CHECK(Json::parse(run_json({}, "", "tiled/avx2"), "document").find("fast") == nullptr);
  check_fast(time_json({.engine = "fast-bf16/amx", .fast = sample}));
  CHECK(Json::parse(time_json({.engine = "reference"}), "document").find("fast") == nullptr);
}

TEST_CASE("run_json: a NaN is null") {
  const Json document =
      Json::parse(run_json({}, "", "fast-bf16/amx", FastReport{NAN, NAN, 64}), "document");
  CHECK(document.find("fast")->find("rms_error")->kind() == Json::Kind::null);
}
