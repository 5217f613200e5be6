// qkv plan: bytes and multiply-adds against arithmetic on paper.
#include <catch2/catch.hpp>

#include "qkv/base/json.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

Json plan(std::vector<std::string> words) {
  words.insert(words.begin(), "plan");
  words.emplace_back("--json");
  CAPTURE(command_line(words));
  const Ended ended = run_program(words);
  REQUIRE(ended.err == "");
  REQUIRE(ended.status == 0);
  return Json::parse(ended.out, "plan");
}

double number(const Json& document, const std::vector<std::string>& path) {
  const Json* value = &document;
  for (const std::string& key : path) {
    value = value->find(key);
    REQUIRE(value != nullptr);
  }
  return value->number();
}

double stage_bytes(const Json& document, const std::string& name) {
  for (const Json& stage : document.find("stages")->items()) {
    if (stage.find("name")->text() == name) return number(stage, {"bytes"});
  }
  return -1;
}

// B 2, L 3, S 5, H 4, G 2, E 8, D 3, Dv 7
const std::vector<std::string> all_different = {
    "--batch",   "2", "--seq", "3", "--kv-seq", "5", "--heads",   "4",  "--kv-heads", "2",
    "--d-model", "8", "--d-k", "3", "--d-v",    "7", "--compute", "f64"};

}  // namespace

TEST_CASE("plan: every stage has the bytes of its elements") {
  const Json document = plan(all_different);
  CHECK(stage_bytes(document, "x") == 2 * 3 * 8 * 8);
  CHECK(stage_bytes(document, "context") == 2 * 5 * 8 * 8);
  CHECK(stage_bytes(document, "q") == 2 * 4 * 3 * 3 * 8);
  CHECK(stage_bytes(document, "k") == 2 * 2 * 5 * 3 * 8);
  CHECK(stage_bytes(document, "v") == 2 * 2 * 5 * 7 * 8);
  for (const char* square : {"scores", "scaled", "attn"})
    CHECK(stage_bytes(document, square) == 2 * 4 * 3 * 5 * 8);
  CHECK(stage_bytes(document, "heads") == 2 * 4 * 3 * 7 * 8);
  CHECK(stage_bytes(document, "concat") == 2 * 3 * 28 * 8);
  CHECK(stage_bytes(document, "out") == 2 * 3 * 8 * 8);
  CHECK(stage_bytes(document, "masked") == -1);

  // 384 + 640 + 576 + 480 + 1120 + 3*960 + 1344 + 1344 + 384
  CHECK(number(document, {"memory", "step_by_step", "bytes"}) == 9152);
  // Twice the keys: 384 + 1280 + 576 + 960 + 2240 + 3*1920 + 1344 + 1344 + 384
  CHECK(number(document, {"memory", "step_by_step", "bytes_doubled"}) == 14272);
  // The reference works in logits before and after a step, 3x5 each, and 3x7 sums: 51 numbers.
  CHECK(number(document, {"memory", "one_pass", "working_bytes"}) == 408);
  CHECK(number(document, {"memory", "one_pass", "bytes"}) == 9152 - 3 * 960 + 408);
}

TEST_CASE("plan: multiply-adds are products of the axes") {
  const Json document = plan(all_different);
  // q 2·3·8·(4·3), k 2·5·8·(2·3), v 2·5·8·(2·7), out 2·3·(4·7)·8
  CHECK(number(document, {"multiply_adds", "projections", "count"}) == 576 + 480 + 1120 + 1344);
  CHECK(number(document, {"multiply_adds", "projections", "count_doubled"}) ==
        576 + 960 + 2240 + 1344);
  CHECK(number(document, {"multiply_adds", "scores", "count"}) == 2 * 4 * 3 * 5 * 3);
  CHECK(number(document, {"multiply_adds", "weighted_sum", "count"}) == 2 * 4 * 3 * 5 * 7);
  CHECK(number(document, {"multiply_adds", "total", "count"}) == 3520 + 360 + 840);
}

TEST_CASE("plan: with as many queries as keys both double, and scores take four times as much") {
  const Json document = plan({"--seq", "64", "--d-model", "32", "--heads", "4"});
  CHECK(document.find("length")->find("axes")->items().size() == 2);
  CHECK(number(document, {"multiply_adds", "scores", "count"}) == 4 * 64 * 64 * 8);
  CHECK(number(document, {"multiply_adds", "scores", "count_doubled"}) == 4 * 128 * 128 * 8);
  CHECK(number(document, {"multiply_adds", "projections", "count"}) == 4 * 64 * 32 * 32);
  CHECK(number(document, {"multiply_adds", "projections", "count_doubled"}) == 4 * 128 * 32 * 32);
}

TEST_CASE("plan: more heads at the same width cost memory for scores and no multiply-adds") {
  const Json two = plan({"--seq", "16", "--d-model", "32", "--heads", "2"});
  const Json eight = plan({"--seq", "16", "--d-model", "32", "--heads", "8"});
  CHECK(number(two, {"multiply_adds", "total", "count"}) ==
        number(eight, {"multiply_adds", "total", "count"}));
  CHECK(stage_bytes(two, "scores") == 2 * 16 * 16 * 4);
  CHECK(stage_bytes(eight, "scores") == 8 * 16 * 16 * 4);
  // scores, scaled and attn of two heads, and what four would take.
  CHECK(number(two, {"twice_the_heads", "square_bytes_now"}) == 3 * 2 * 16 * 16 * 4);
  CHECK(number(two, {"twice_the_heads", "square_bytes"}) == 3 * 4 * 16 * 16 * 4);
}

TEST_CASE("plan: the largest length and batch fit the budget, one more would not") {
  const Json document = plan({"--seq", "4", "--d-k", "2", "--compute", "f64", "--budget", "10000"});
  // q, k, v, heads, out: 80·L; scores, scaled, attn: 24·L². 18 takes 9216, 19 takes 10184.
  CHECK(number(document, {"budget", "step_by_step", "length"}) == 18);
  CHECK(number(document, {"budget", "step_by_step", "batch"}) == 14);  // 704 a row
  // 80·L + 8·(2·L² + 2·L): 22 takes 9856, 23 takes 10672.
  CHECK(number(document, {"budget", "one_pass", "length"}) == 22);
  CHECK(number(document, {"budget", "one_pass", "batch"}) == 30);  // 320 a row, and 320
}

TEST_CASE("plan: nothing fits a budget of a byte") {
  const Json document = plan({"--seq", "4", "--d-k", "2", "--budget", "1"});
  CHECK(number(document, {"budget", "step_by_step", "length"}) == 0);
  CHECK(number(document, {"budget", "one_pass", "batch"}) == 0);
}

TEST_CASE("plan: the kernels of run hold no logits in float32") {
  const std::vector<std::string> words = {"--seq", "8192", "--heads",   "8",
                                          "--d-k", "64",   "--threads", "2"};
  const Json document = plan(words);
  // A tile of keys and some hundred rows of 64 + 64 channels for each thread; the logits of a
  // single head would take 256 MiB.
  CHECK(number(document, {"memory", "one_pass", "working_bytes"}) < 2e6);
  // q, k, v, heads and out of 8·8192·64 floats each
  CHECK(number(document, {"memory", "one_pass", "bytes"}) -
            number(document, {"memory", "one_pass", "working_bytes"}) ==
        5.0 * 8 * 8192 * 64 * 4);
}

TEST_CASE("plan: headers give what sizes give") {
  const Folder folder;
  const std::string bundle = folder / "bundle";
  const std::vector<std::string> sizes = {"--batch",   "3", "--seq",   "5",
                                          "--d-model", "6", "--heads", "2"};
  std::vector<std::string> init = {"init", bundle};
  init.insert(init.end(), sizes.begin(), sizes.end());
  REQUIRE(run_program(init).status == 0);
  for (const char* more : {"--causal", "--alibi"}) {
    std::vector<std::string> from_sizes = sizes;
    from_sizes.insert(from_sizes.end(), {more, "--budget", "1M"});
    CHECK(plan({bundle, more, "--budget", "1M"}).dump() == plan(from_sizes).dump());
  }
}

TEST_CASE(
    "plan: what does not fit --memory-limit in trace and run fits at the size of their hints") {
  const Folder folder;
  const std::string bundle = folder / "bundle";
  REQUIRE(run_program({"init", bundle, "--batch", "3", "--seq", "64", "--d-model", "8"}).status ==
          0);
  for (const std::string command : {"trace", "run"}) {
    const Ended refused =
        run_program({command, bundle, "--compute", "f64", "--memory-limit", "20000"});
    CHECK(refused.status == 2);
    const std::string words = "a length of ";
    const std::size_t at = refused.err.find(words);
    REQUIRE(at != std::string::npos);
    const std::size_t length = std::stoul(refused.err.substr(at + words.size()));
    for (const std::size_t more : {std::size_t{0}, std::size_t{1}}) {
      const std::string sized = folder / (command + std::to_string(more));
      REQUIRE(run_program({"init", sized, "--batch", "3", "--seq", std::to_string(length + more),
                           "--d-model", "8"})
                  .status == 0);
      CHECK(run_program({command, sized, "--compute", "f64", "--memory-limit", "20000"}).status ==
            (more == 0 ? 0 : 2));
    }
  }
}

TEST_CASE("plan: tensors without elements fit any number of times, and grow by no factor") {
  const Folder folder;
  // No row of X: (0,8).
  const std::string bundle = folder / "bundle";
  REQUIRE(run_program({"init", bundle}).status == 0);
  const std::string none = bundle + "/x.npy[0,:0]";
  const Ended ended =
      run_program({"plan", "--q", none, "--k", none, "--v", none, "--budget", "1M"});
  CHECK(ended.status == 0);
  CHECK(ended.out.find("any") != std::string::npos);
  CHECK(ended.out.find("nan") == std::string::npos);
}
