// The encoder blocks of two trained models through the program, against their float64 references.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "qkv/tensor/tensor.hpp"
#include "support/arrays.hpp"
#include "support/program.hpp"
#include "support/stories.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const std::string models = std::string(QKV_SHARED_DIR) + "/real-weights";

/// Runs block in both types; holds res1 and block_out to the references. The limit of float32 is
/// ten times what the references' authors saw from plain torch code.
void hold_to(const std::vector<std::string>& words, const std::string& references) {
  const std::vector<std::pair<std::string, double>> precisions = {{"f64", 1e-10}, {"f32", 1e-5}};
  for (const auto& [compute, limit] : precisions) {
    const Folder dump;
    std::vector<std::string> command = {"block", "--compute", compute, "--dump", dump.path()};
    command.insert(command.end(), words.begin(), words.end());
    const Ended ended = run_program(command);
    INFO(command_line(command) << "\n" << ended.err << ended.out);
    REQUIRE(ended.status == 0);
    for (const auto& [file, stage] : {std::pair{"block_mid", "res1"}, {"block_out", "block_out"}}) {
      INFO(stage);
      const Array want = tensor_file(references + "/" + file + ".npy");
      double largest = 1;
      for (std::size_t n = 0; n < element_count(want.shape); ++n)
        largest = std::max(largest, std::abs(element(want, n)));
      CHECK(departure(tensor_file(dump / (std::string(stage) + ".npy")), want,
                      compute == "f64" ? limit : limit * largest) == "");
    }
  }
}

std::vector<std::string> llama_settings() {
  return {"--heads",      "8",        "--kv-heads", "4",           "--weight-order",
          "out-in",       "--causal", "--rope",     "10000",       "--rope-style",
          "interleaved",  "--norm",   "pre",        "--norm-kind", "rms",
          "--activation", "silu"};
}

}  // namespace

TEST_CASE("real weights: a whole OCR encoder block, pre-norm with layer norm and silu") {
  if (!has_shared_folder(models)) return;
  const std::string weights = models + "/ppocrv4-svtr/weights/block0/";
  const std::string folder = models + "/ppocrv4-svtr/case-fox/block0";
  std::vector<std::string> words = {folder + "/block_input.npy",
                                    "--heads",
                                    "8",
                                    "--weight-order",
                                    "in-out",
                                    "--norm",
                                    "pre",
                                    "--activation",
                                    "silu"};
  for (const char* name : {"wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo"})
    words.insert(words.end(), {std::string("--") + name, weights + name + ".npy"});
  for (const auto& [option, file] : {std::pair{"norm1-w", "ln1_gamma"},
                                     {"norm1-b", "ln1_beta"},
                                     {"norm2-w", "ln2_gamma"},
                                     {"norm2-b", "ln2_beta"},
                                     {"ff-w1", "fc1_w"},
                                     {"ff-b1", "fc1_b"},
                                     {"ff-w2", "fc2_w"},
                                     {"ff-b2", "fc2_b"}})
    words.insert(words.end(), {std::string("--") + option, weights + file + ".npy"});
  hold_to(words, folder);
}

TEST_CASE("real weights: whole Llama-style blocks, pre-norm with RMS norm and a gate") {
  if (!has_shared_folder(models)) return;
  const std::string layer = GENERATE("layer0", "layer2");
  const std::string folder = stories + "/case-lily/" + layer;
  std::vector<std::string> words = {folder + "/block_input.npy"};
  for (const auto& [name, file] : llama_files) {
    std::string option = name;
    std::ranges::replace(option, '_', '-');
    words.insert(words.end(), {"--" + option, stories + "/weights/" + layer + "/" + file + ".npy"});
  }
  const std::vector<std::string> settings = llama_settings();
  words.insert(words.end(), settings.begin(), settings.end());
  hold_to(words, folder);
}

TEST_CASE("real weights: five Llama-style blocks as a stack lead to the model's logits") {
  if (!has_shared_folder(models)) return;
  namespace fs = std::filesystem;
  const Folder bundle;
  copy_stories_layers(bundle.path());
  fs::copy_file(stories + "/case-lily/layer0/block_input.npy", bundle / "x.npy");
  std::vector<std::string> words = {"block", bundle.path(), "--compute",
                                    "f64",   "-o",          bundle / "out.npy"};
  const std::vector<std::string> settings = llama_settings();
  words.insert(words.end(), settings.begin(), settings.end());
  const Ended ended = run_program(words);
  INFO(command_line(words) << "\n" << ended.err << ended.out);
  REQUIRE(ended.status == 0);

  // logits = (out/sqrt(mean(out^2) + 1e-5) * final_norm) * embedding^T
  const auto out = as_rank<double, 2>(tensor_file(bundle / "out.npy"));
  const auto gain = as_rank<double, 1>(tensor_file(stories + "/weights/final_norm.npy"));
  const auto table = as_rank<double, 2>(tensor_file(stories + "/weights/tok_embeddings.npy"));
  const auto want = as_rank<double, 2>(tensor_file(stories + "/case-lily/logits.npy"));
  double worst = 0;
  for (std::size_t t = 0; t < out.size(0); ++t) {
    double square = 0;
    for (const double value : out.row(t)) square += value * value / 64;
    for (std::size_t word = 0; word < table.size(0); ++word) {
      double logit = 0;
      for (std::size_t e = 0; e < 64; ++e)
        logit += out(t, e) / std::sqrt(square + 1e-5) * gain(e) * table(word, e);
      worst = std::max(worst, std::abs(logit - want(t, word)));
    }
  }
  CHECK(worst <= 1e-10);
}
