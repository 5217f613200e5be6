// Two trained models through the program: every stage against its float64 reference.
#include <catch2/catch.hpp>

#include "support/arrays.hpp"
#include "support/program.hpp"
#include "support/stories.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

const std::string models = std::string(QKV_SHARED_DIR) + "/real-weights";
const std::string reader = models + "/ppocrv4-svtr";
const std::string reader_case = reader + "/case-fox/block0";
const std::string reader_weights = reader + "/weights/block0";

/// The reference's file and the stage that it is: their scores are scaled already, their context is
/// what the heads give side by side.
struct Reference {
  std::string file, stage;
};
const std::vector<Reference> from_sdpa = {
    {"scores", "scaled"}, {"attn", "attn"}, {"context", "out"}};
const std::vector<Reference> from_x = {{"q", "q"},       {"k", "k"},
                                       {"v", "v"},       {"scores", "scaled"},
                                       {"attn", "attn"}, {"context", "concat"},
                                       {"out", "out"}};

/// Without the axes of length 1 in front: a batch of one was added to make rank 4.
Array without_batch(const Array& array) {
  Shape shape = array.shape;
  if (!shape.empty() && shape[0] == 1) shape.erase(shape.begin());
  return reshaped(array, shape);
}

/// Traces in both types and holds every stage to the reference. The limits are what the references'
/// authors saw (scores reach -67, where plain float32 code differs by 2.4e-5) with room for another
/// order of summation.
void hold_to(const std::vector<std::string>& inputs, const std::vector<Reference>& stages,
             const std::string& references) {
  const std::vector<std::pair<std::string, double>> precisions = {{"f32", 5e-5}, {"f64", 1e-11}};
  for (const auto& [compute, limit] : precisions) {
    const Folder dump;
    std::vector<std::string> words = {"trace", "--compute", compute, "--dump", dump.path()};
    words.insert(words.end(), inputs.begin(), inputs.end());
    const Ended ended = run_program(words);
    INFO(command_line(words) << "\n" << ended.err);
    REQUIRE(ended.status == 0);
    for (const Reference& reference : stages) {
      INFO("stage " << reference.stage);
      const Array got = tensor_file(dump / (reference.stage + ".npy"));
      CHECK(departure(without_batch(got), tensor_file(references + "/" + reference.file + ".npy"),
                      limit) == "");
    }
  }
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// --wq DIR/wq.npy ... for the names given.
std::vector<std::string> weight_flags(const std::string& folder,
                                      const std::vector<std::string>& names) {
  std::vector<std::string> words;
  for (const std::string& name : names)
    words.insert(words.end(), {"--" + name, folder + "/" + name + ".npy"});
  return words;
}

/// --q, --k, --v: `part` makes rank 4 of (H,T,D).
std::vector<std::string> sdpa_flags(const std::string& folder, const std::string& part) {
  const std::string sdpa = folder + "/sdpa/";
  return {"--q", sdpa + "q.npy" + part, "--k", sdpa + "k.npy" + part, "--v", sdpa + "v.npy" + part};
}

}  // namespace

TEST_CASE(
    "real weights: an OCR encoder block, from x and weights (in,out) with biases, 8 heads of 15") {
  if (!has_shared_folder(models)) return;
  const std::vector<std::string> x = {reader_case + "/attn_input.npy", "--heads", "8"};
  SECTION("each weight by its flag, square ones read as in-out by default") {
    const auto weights =
        weight_flags(reader_weights, {"wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo"});
    hold_to(joined(x, weights), from_x, reader_case);
  }
  SECTION("fused") {
    const auto weights = weight_flags(reader_weights, {"wo", "bo"});
    const std::vector<std::string> fused = {"--wqkv", reader_weights + "/qkv_w.npy", "--bqkv",
                                            reader_weights + "/qkv_b.npy"};
    hold_to(joined(joined(x, fused), weights), from_x, reader_case);
  }
  SECTION("the folder of weights as it lies there") {
    hold_to(joined(x, {"-w", reader_weights, "--weight-order", "in-out"}), from_x, reader_case);
  }
}

TEST_CASE("real weights: an OCR encoder block, from Q, K, V") {
  if (!has_shared_folder(models)) return;
  SECTION("with an axis of heads") {
    hold_to(sdpa_flags(reader_case, "[None]"), from_sdpa, reader_case + "/sdpa");
  }
  SECTION("its heads as a batch of 8") {
    hold_to(sdpa_flags(reader_case, ""), from_sdpa, reader_case + "/sdpa");
  }
}

TEST_CASE(
    "real weights: a Llama-style layer, from x and weights (out,in): grouped heads, rotary, "
    "causal") {
  if (!has_shared_folder(models)) return;
  const std::string layer = GENERATE("layer0", "layer2");
  INFO(layer);
  const std::string folder = stories + "/case-lily/" + layer;
  const std::vector<std::string> settings = {folder + "/attn_input.npy",
                                             "--heads",
                                             "8",
                                             "--kv-heads",
                                             "4",
                                             "--weight-order",
                                             "out-in",
                                             "--causal",
                                             "--rope",
                                             "10000",
                                             "--rope-style",
                                             "interleaved"};
  std::vector<Reference> stages = from_x;
  stages.insert(stages.end(), {{"q_rope", "q_rope"}, {"k_rope", "k_rope"}});
  hold_to(joined(settings, weight_flags(stories + "/weights/" + layer, {"wq", "wk", "wv", "wo"})),
          stages, folder);
}

TEST_CASE("real weights: a Llama-style layer, from rotated Q, K and V") {
  if (!has_shared_folder(models)) return;
  const std::string layer = GENERATE("layer0", "layer2");
  INFO(layer);
  const std::string folder = stories + "/case-lily/" + layer;
  hold_to(joined(sdpa_flags(folder, "[None]"), {"--causal"}), from_sdpa, folder + "/sdpa");
}
