// time_text(), time_json(): where the time went.
#include <catch2/catch.hpp>

#include "qkv/base/json.hpp"
#include "qkv/report/report.hpp"

using namespace qkv;

namespace {
const TimeReport sample{.read_s = 0.0123,
                        .compute_min_s = 0.0456789,
                        .compute_median_s = 0.05,
                        .write_s = 1e-5,
                        .gflops = 87.654,
                        .runs = 5,
                        .threads = 2,
                        .engine = "reference"};
}

TEST_CASE("time_text: read, compute, write and speed, a line each") {
  CHECK(time_text(sample) ==
        "read     0.0123 s\n"
        "compute  0.04568 s min, 0.05 s median of 5 runs\n"
        "write    1e-05 s\n"
        "speed    87.65 GFLOP/s, 2 threads, kernel reference\n");
}

TEST_CASE("time_json: schema qkv.time/1 with its keys in order") {
  const Json document = Json::parse(time_json(sample), "time");
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.members()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"schema", "read_s", "compute_s", "write_s", "gflops",
                                         "threads", "engine"});
  const Json& compute = *document.find("compute_s");
  CHECK(compute.find("min")->number() == 0.0456789);
  CHECK(compute.find("median")->number() == 0.05);
  CHECK(compute.find("runs")->number() == 5);
  CHECK(document.find("engine")->text() == "reference");
}
