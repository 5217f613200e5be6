// qkv block against PyTorch in float64: every stage, from bundles, stacks and checkpoints
// (tests/data/make_block.py).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "qkv/io/read.hpp"
#include "support/arrays.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const std::string data = std::string(QKV_TEST_DATA) + "/block";

std::string file_text(const std::string& path) {
  const Bytes bytes = open_bytes(path);
  return {reinterpret_cast<const char*>(bytes.data), bytes.size};
}

/// The greatest finite size in the array: what a relative limit is taken of.
double largest(const Array& array) {
  double most = 0;
  for (std::size_t n = 0; n < element_count(array.shape); ++n) {
    const double value = std::abs(element(array, n));
    if (std::isfinite(value)) most = std::max(most, value);
  }
  return most;
}

/// Runs block in both types and holds every stage, and their order, to the golden file.
void hold_to(const std::string& golden, const std::vector<std::string>& words) {
  for (const std::string compute : {"f64", "f32"}) {
    const Folder dump;
    std::vector<std::string> command = {"block", "--compute", compute, "--dump", dump.path()};
    command.insert(command.end(), words.begin(), words.end());
    const Ended ended = run_program(command);
    INFO(command_line(command) << "\n" << ended.err << ended.out);
    REQUIRE(ended.status == 0);

    std::vector<std::string> stages = tensor_names(data + "/" + golden + ".npz");
    for (std::string& stage : stages)
      if (stage.ends_with(".npy")) stage.resize(stage.size() - 4);
    std::vector<std::string> reported;
    const auto report = nlohmann::json::parse(file_text(dump / "trace.json"));
    for (const auto& stage : report["stages"]) reported.push_back(stage["name"]);
    CHECK(reported == stages);
    CHECK(report["status"] == "pass");

    for (const std::string& stage : stages) {
      INFO("stage " << stage);
      std::string file = stage;
      std::ranges::replace(file, '.', '/');
      const Array want = tensor_file(data + "/" + golden + ".npz:" + stage);
      const double limit = compute == "f64" ? 1e-10 : 1e-5 * largest(want);
      CHECK(departure(tensor_file(dump / (file + ".npy")), want, limit) == "");
    }
  }
}

}  // namespace

TEST_CASE("block: post-norm and pre-norm, relu and gelu, causal and padded, as PyTorch") {
  const std::string name = GENERATE("post_relu", "post_gelu_padded", "pre_relu_causal", "pre_gelu");
  hold_to(name, {data + "/" + name});
}

TEST_CASE("block: RMS norm, silu, gelu by tanh, gated feed-forward, as plain torch code") {
  const std::string name =
      GENERATE("post_gelu_tanh", "pre_rms_gated", "post_rms", "post_gated_gelu");
  hold_to(name, {data + "/" + name});
}

TEST_CASE("block: a stack of layers, each on the one before it") {
  const std::string name = GENERATE("stack_pre", "stack_post");
  hold_to(name, {data + "/" + name});
}

TEST_CASE("block: the folder of weights may hold the layers in place of the bundle") {
  hold_to("stack_post", {data + "/stack_post/x.npy", "-w", data + "/stack_post", "--heads", "3",
                         "--causal", "--weight-order", "out-in"});
}

TEST_CASE("block: weights by the names of a torch.nn.TransformerEncoder, all its layers at once") {
  hold_to("stack_pre", {data + "/stack_pre/x.npy", "-w", data + "/torch.safetensors",
                        "--weights-prefix", "encoder.layers.", "--heads", "3", "--norm", "pre",
                        "--activation", "gelu", "--lengths", "5,3"});
}

TEST_CASE("block: weights by the names of Llama, BERT, GPT-2 and BLOOM") {
  SECTION("Llama") {
    hold_to("pre_rms_gated", {data + "/pre_rms_gated/x.npy",
                              "-w",
                              data + "/llama.safetensors",
                              "--weights-prefix",
                              "model.layers.0.",
                              "--heads",
                              "3",
                              "--kv-heads",
                              "1",
                              "--norm",
                              "pre",
                              "--norm-kind",
                              "rms",
                              "--activation",
                              "silu",
                              "--causal",
                              "--rope",
                              "10000",
                              "--eps",
                              "1e-6"});
  }
  SECTION("BERT") {
    hold_to("post_gelu_padded",
            {data + "/post_gelu_padded/x.npy", "-w", data + "/bert.safetensors", "--weights-prefix",
             "bert.encoder.layer.0.", "--heads", "3", "--activation", "gelu", "--lengths", "5,3"});
  }
  SECTION("GPT-2") {
    hold_to("pre_gelu",
            {data + "/pre_gelu/x.npy", "-w", data + "/gpt2.safetensors", "--weights-prefix", "h.0.",
             "--heads", "3", "--norm", "pre", "--activation", "gelu", "--eps", "1e-3"});
  }
  SECTION("BLOOM") {
    hold_to("pre_gelu",
            {data + "/pre_gelu/x.npy", "-w", data + "/bloom.safetensors", "--weights-prefix",
             "h.0.", "--heads", "3", "--norm", "pre", "--activation", "gelu", "--eps", "1e-3"});
  }
}

TEST_CASE("block: GPT-NeoX runs attention and feed-forward side by side, which is said") {
  const std::string file = data + "/neox.safetensors", layer = "gpt_neox.layers.0.";
  const Ended ended = run_program({"block", data + "/pre_gelu/x.npy", "-w", file,
                                   "--weights-prefix", layer, "--heads", "3", "--norm", "pre"});
  CHECK(ended.status == 2);
  CHECK(ended.err.find("run side by side (") != std::string::npos);
  CHECK(ended.err.find("got the names of GPT-NeoX") != std::string::npos);
  CHECK(ended.err.find("hint: qkv trace shows its attention") != std::string::npos);
  // Its attention is as any other.
  CHECK(run_program({"trace", data + "/pre_gelu/x.npy", "-w", file, "--weights-prefix", layer,
                     "--heads", "3"})
            .status == 0);
  // One after another, where the user knows it: each tensor by its name.
  std::vector<std::string> words = {"--weight-order", "out-in", "--qkv-order", "per-head",
                                    "--heads",        "3",      "--norm",      "pre",
                                    "--activation",   "gelu",   "--eps",       "1e-3"};
  const std::pair<const char*, const char*> names[] = {
      {"--wqkv", "attention.query_key_value.weight"},
      {"--bqkv", "attention.query_key_value.bias"},
      {"--wo", "attention.dense.weight"},
      {"--bo", "attention.dense.bias"},
      {"--norm1-w", "input_layernorm.weight"},
      {"--norm1-b", "input_layernorm.bias"},
      {"--norm2-w", "post_attention_layernorm.weight"},
      {"--norm2-b", "post_attention_layernorm.bias"},
      {"--ff-w1", "mlp.dense_h_to_4h.weight"},
      {"--ff-b1", "mlp.dense_h_to_4h.bias"},
      {"--ff-w2", "mlp.dense_4h_to_h.weight"},
      {"--ff-b2", "mlp.dense_4h_to_h.bias"}};
  words.insert(words.begin(), data + "/pre_gelu/x.npy");
  for (const auto& [flag, name] : names) {
    words.emplace_back(flag);
    words.push_back(file + ":" + layer + name);
  }
  hold_to("pre_gelu", words);
}

TEST_CASE("block: square weights of attention are read like the feed-forward whose shape tells") {
  // wq, wk, wv, wo are (12,12), ff_w1 (20,12): without --weight-order all are out-in.
  const std::string folder = data + "/post_relu";
  hold_to("post_relu", {folder + "/x.npy", "-w", folder, "--heads", "3"});
}
