// trace_text(), trace_json(): what a trace looks like, and the keys that scripts rely on.
#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"

using namespace qkv;

namespace {

StageRow stage(const char* id, const char* is, Shape shape, std::vector<std::string> dims,
               Stats stats) {
  StageRow row;
  row.id = id;
  row.is = is;
  row.bytes = 4.0 * static_cast<double>(element_count(shape));
  row.shape = std::move(shape);
  row.dims = std::move(dims);
  row.stats = stats;
  return row;
}

TraceReport sample() {
  const double nan = std::nan("");
  TraceReport report;
  report.headline = "self-attention   B=2 L=4 S=4   scale 1/√4";
  report.config = {{.kind = ConfigEntry::Kind::number, .key = "heads", .number = 12},
                   {.kind = ConfigEntry::Kind::number, .key = "scale", .number = 0.125},
                   {.kind = ConfigEntry::Kind::flag, .key = "causal", .flag = true},
                   {.kind = ConfigEntry::Kind::text, .key = "like", .text = "onnx"}};
  report.stages = {
      stage("x", "input", {2, 4, 8}, {"B", "L", "E"},
            {.count = 64,
             .finite = 64,
             .min = -2.3114,
             .max = 2.0441,
             .mean = 0.031,
             .std = 0.98249}),
      stage(
          "scores", "q·kᵀ", {2, 4, 4}, {"B", "L", "S"},
          {.count = 32, .finite = 0, .min = nan, .max = nan, .mean = nan, .std = nan, .nan = 32})};
  report.checks = {{.id = "softmax.row_sum",
                    .step = 4,
                    .stage = "attn",
                    .status = Status::pass,
                    .value = 6e-8,
                    .limit = 1e-6,
                    .message = "rows sum to 1 ± 6e-08 (limit 1e-06)",
                    .hint = "not shown: it passed"},
                   {.id = "stage.finite",
                    .step = 3,
                    .stage = "scores",
                    .status = Status::fail,
                    .value = 32,
                    .limit = 0,
                    .at = {0, 0},
                    .message = "32 of 32 elements are NaN",
                    .hint = "look at q and k"},
                   {.id = "weights.shared",
                    .step = 2,
                    .stage = "wq,wk",
                    .status = Status::warn,
                    .message = "W_Q is W_K"},
                   {.id = "mask.leak",
                    .step = 5,
                    .stage = "attn",
                    .message = "nothing is hidden",
                    .hint = "--causal"}};
  return report;
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.members()) names.push_back(key);
  return names;
}

}  // namespace

TEST_CASE("trace_text: headline, a row per stage, a line per check, the count of each verdict") {
  CHECK(trace_text(sample(), {}) ==
        "self-attention   B=2 L=4 S=4   scale 1/√4\n"
        "\n"
        "stage   is       shape  dims   dtype       min    max   mean     std  NaN  Inf  bytes\n"
        "x       input  (2,4,8)  B,L,E  float32  -2.311  2.044  0.031  0.9825    0    0    256\n"
        "scores  q·kᵀ   (2,4,4)  B,L,S  float32       -      -      -       -   32    0    128\n"
        "\n"
        "pass  softmax.row_sum  attn           rows sum to 1 ± 6e-08 (limit 1e-06)\n"
        "fail  stage.finite     scores[0,0,:]  32 of 32 elements are NaN (limit 0)\n"
        "      hint: look at q and k\n"
        "warn  weights.shared   wq,wk          W_Q is W_K\n"
        "skip  mask.leak        attn           nothing is hidden\n"
        "      hint: --causal\n"
        "1 passed, 1 warned, 1 failed, 1 skipped\n");
}

TEST_CASE("trace_text: infinities of either sign get a column each, once there are some") {
  TraceReport report = sample();
  report.stages[1].stats.neg_inf = 12;
  const std::string text = trace_text(report, {});
  CHECK(text.find("NaN  +Inf  -Inf  bytes\n") != std::string::npos);
  CHECK(text.find("  0     0     0    256\n") != std::string::npos);
  CHECK(text.find(" 32     0    12    128\n") != std::string::npos);
}

TEST_CASE("trace_text: from a million bytes on, sizes have units") {
  TraceReport report = sample();
  report.stages[1].bytes = 3 * 1048576;
  const std::string text = trace_text(report, {});
  CHECK(text.find("     size\n") != std::string::npos);
  CHECK(text.find("    256 B\n") != std::string::npos);
  CHECK(text.find(" 3.00 MiB\n") != std::string::npos);
}

TEST_CASE("trace_text: value and limit are appended where the message does not say them") {
  TraceReport report = sample();
  const auto line = [&](const std::string& message, double value, double limit) {
    report.checks = {{.id = "c",
                      .stage = "attn",
                      .status = Status::pass,
                      .value = value,
                      .limit = limit,
                      .message = message}};
    const std::string text = trace_text(report, {});
    const std::size_t start = text.find("attn  ") + 6;
    return text.substr(start, text.find('\n', start) - start);
  };
  CHECK(line("all is well", 0.25, 1e-6) == "all is well (value 0.25, limit 1e-06)");
  CHECK(line("sums to 0.9375, limit 1e-06", 0.9375, 1e-6) == "sums to 0.9375, limit 1e-06");
  CHECK(line("1e-06 is no 1", 1, 2) == "1e-06 is no 1 (limit 2)");
  CHECK(line("of 16 rows", 6, 1) == "of 16 rows (value 6, limit 1)");
  CHECK(line("256 B of 1.00 KiB", 256, 1024) == "256 B of 1.00 KiB");
}

TEST_CASE("trace_text: without Unicode every byte is ASCII and columns still align") {
  const std::string text = trace_text(sample(), {.unicode = false});
  for (const char byte : text) CHECK(static_cast<unsigned char>(byte) < 0x80);
  CHECK(text.find("scale 1/sqrt(4)\n") != std::string::npos);
  CHECK(text.find("scores  q*k^T  (2,4,4)") != std::string::npos);
}

TEST_CASE("trace_text: colour falls on the verdicts and changes nothing else") {
  std::string coloured = trace_text(sample(), {.colour = true});
  std::size_t codes = 0;
  for (std::size_t at = coloured.find('\x1b'); at != std::string::npos;
       at = coloured.find('\x1b')) {
    coloured.erase(at, coloured.find('m', at) + 1 - at);
    ++codes;
  }
  CHECK(codes == 8);
  CHECK(coloured == trace_text(sample(), {}));
}

TEST_CASE("trace_json: schema qkv.trace/1 with its keys in order") {
  const std::string text = trace_json(sample());
  const Json document = Json::parse(text, "trace");
  CHECK(keys(document) ==
        std::vector<std::string>{"schema", "config", "stages", "checks", "status"});
  CHECK(document.find("schema")->text() == "qkv.trace/1");
  CHECK(document.find("status")->text() == "fail");

  const Json& config = *document.find("config");
  CHECK(keys(config) == std::vector<std::string>{"heads", "scale", "causal", "like"});
  CHECK(config.find("heads")->number() == 12);
  CHECK(config.find("scale")->number() == 0.125);
  CHECK(config.find("causal")->flag());
  CHECK(config.find("like")->text() == "onnx");

  const Json& scores = document.find("stages")->items().at(1);
  CHECK(keys(scores) == std::vector<std::string>{"name", "shape", "dims", "dtype", "bytes", "min",
                                                 "max", "mean", "std", "nan", "pos_inf",
                                                 "neg_inf"});
  CHECK(scores.find("name")->text() == "scores");
  CHECK(scores.find("shape")->items().at(2).number() == 4);
  CHECK(scores.find("dims")->items().at(2).text() == "S");
  CHECK(scores.find("dtype")->text() == "float32");
  CHECK(scores.find("mean")->kind() == Json::Kind::null);
  CHECK(scores.find("nan")->number() == 32);

  const Json& fail = document.find("checks")->items().at(1);
  CHECK(keys(fail) == std::vector<std::string>{"id", "step", "stage", "status", "value", "limit",
                                               "at", "message", "hint"});
  CHECK(fail.find("status")->text() == "fail");
  CHECK(fail.find("at")->items().size() == 2);
  CHECK(fail.find("limit")->number() == 0);
  const Json& warn = document.find("checks")->items().at(2);
  for (const char* absent : {"value", "limit", "at", "hint"})
    CHECK(warn.find(absent)->kind() == Json::Kind::null);
}

TEST_CASE("trace_json: counts, bytes and whole settings are written without a fraction") {
  const std::string text = trace_json(sample());
  CHECK(text.find("256") != std::string::npos);
  CHECK(text.find("256.0") == std::string::npos);
  CHECK(text.find("12.0") == std::string::npos);
}

TEST_CASE("worst_status: a failure outweighs a warning, and a skip is no blame") {
  const auto worst = [](std::vector<Status> statuses) {
    std::vector<CheckResult> checks;
    for (const Status status : statuses) checks.push_back({.status = status});
    return worst_status(checks);
  };
  CHECK(worst({}) == Status::pass);
  CHECK(worst({Status::skip, Status::pass}) == Status::pass);
  CHECK(worst({Status::warn, Status::skip}) == Status::warn);
  CHECK(worst({Status::warn, Status::fail, Status::pass}) == Status::fail);
}

TEST_CASE("trace_text(): sixteen heads are shown, and how many more there are") {
  TraceReport report = sample();
  for (std::size_t h = 0; h < 18; ++h)
    report.heads.push_back({.head = h, .entropy = 0.5, .entropy_share = 0.25, .max = 0.75});
  const std::string text = trace_text(report, {});
  CHECK(text.find("head  entropy  of most  greatest  self  previous  first\n"
                  "   0      0.5   25.0 %    75.0 %     -         -      -\n") !=
        std::string::npos);
  CHECK(text.find("\n  15      0.5   25.0 %    75.0 %     -         -      -\n"
                  "2 more, see --json\n") != std::string::npos);
  CHECK(text.find("no proof") != std::string::npos);
  CHECK(trace_text(sample(), {}).find("head statistics") == std::string::npos);

  const Json json = Json::parse(trace_json(report), "trace");
  const Json& heads = *json.find("heads");
  REQUIRE(heads.items().size() == 18);
  CHECK(heads.items()[17].find("entropy")->number() == 0.5);
  CHECK(heads.items()[17].find("self")->kind() == Json::Kind::null);
}
