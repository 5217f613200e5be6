// Language models through the program and the library, against PyTorch in float64.
#include "qkv/model/language_model.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "qkv/base/error.hpp"
#include "qkv/base/json.hpp"
#include "qkv/base/text.hpp"
#include "qkv/io/read.hpp"
#include "support/arrays.hpp"
#include "support/json_file.hpp"
#include "support/program.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

namespace fs = std::filesystem;

const std::string models = std::string(QKV_TEST_DATA) + "/model/";

std::vector<std::size_t> ids_of(const Json& list) {
  std::vector<std::size_t> ids;
  for (const Json& id : list.items()) ids.push_back(static_cast<std::size_t>(id.number()));
  return ids;
}

std::string listed_ids(const std::vector<std::size_t>& ids) {
  std::string text;
  for (const std::size_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
  return text;
}

std::optional<NamedArray> named(const std::string& folder, const std::string& name) {
  const std::string file = folder + "/" + name + ".npy";
  if (!fs::exists(file)) return std::nullopt;
  return NamedArray{tensor_file(file), file};
}

/// The model `letters`, its settings as its config.json has them.
LanguageModelInputs letters() {
  const std::string folder = models + "letters";
  LanguageModelInputs inputs;
  inputs.embedding = *named(folder, "embedding");
  inputs.settings = {.order = NormOrder::pre, .activation = Activation::gelu_tanh};
  for (const std::string n : {"0", "1"}) {
    const std::string at = folder + "/layers/" + n;
    ModelLayer layer;
    layer.settings.heads = 2;
    layer.settings.weight_order = WeightOrder::in_out;
    for (const auto& [name, role] :
         {std::pair("wq", &Inputs::wq), std::pair("wk", &Inputs::wk), std::pair("wv", &Inputs::wv),
          std::pair("wo", &Inputs::wo), std::pair("bq", &Inputs::bq), std::pair("bk", &Inputs::bk),
          std::pair("bv", &Inputs::bv), std::pair("bo", &Inputs::bo)})
      layer.inputs.*role = named(at, name);
    for (const auto& [name, role] :
         {std::pair("norm1_w", &BlockInputs::norm1_w), std::pair("norm1_b", &BlockInputs::norm1_b),
          std::pair("norm2_w", &BlockInputs::norm2_w), std::pair("norm2_b", &BlockInputs::norm2_b),
          std::pair("ff_w1", &BlockInputs::ff_w1), std::pair("ff_b1", &BlockInputs::ff_b1),
          std::pair("ff_w2", &BlockInputs::ff_w2), std::pair("ff_b2", &BlockInputs::ff_b2)})
      layer.block.*role = named(at, name);
    inputs.layers.push_back(layer);
  }
  inputs.final_norm_w = named(folder, "final_norm_w");
  inputs.final_norm_b = named(folder, "final_norm_b");
  inputs.lm_head_w = named(folder, "lm_head_w");
  inputs.lm_head_b = named(folder, "lm_head_b");
  return inputs;
}

Tensor<double, 2> positions() {
  return as_rank<double, 2>(tensor_file(models + "letters/position.npy"));
}

}  // namespace

TEST_CASE("generate: logits and greedy tokens of two models are those of PyTorch in float64") {
  const std::string name = GENERATE("letters", "words");
  const std::string folder = models + name;
  const Json golden = json_file(folder + "/golden/greedy.json");
  const auto prompt = ids_of(*golden.find("prompt")), ids = ids_of(*golden.find("ids"));
  // Sums of ten terms of size 1: a few dozen roundings of each type.
  for (const auto& [compute, limit] : {std::pair("f64", 1e-12), std::pair("f32", 2e-5)}) {
    const Folder out;
    const Ended whole = run_program({"generate", folder, "--tokens", listed_ids(ids), "--steps",
                                     "0", "--logits", out / "logits.npy", "--compute", compute});
    INFO(name << " " << compute << "\n" << whole.err);
    REQUIRE(whole.status == 0);
    CHECK(departure(tensor_file(out / "logits.npy"), tensor_file(folder + "/golden/logits.npy"),
                    limit, limit) == "");

    const Ended greedy =
        run_program({"generate", folder, "--tokens", listed_ids(prompt), "--steps",
                     std::to_string(ids.size() - prompt.size()), "--compute", compute, "--json"});
    REQUIRE(greedy.status == 0);
    const Json said = Json::parse(greedy.out, "stdout");
    CHECK(ids_of(*said.find("ids")) == ids);
    const auto& steps = said.find("steps")->items();
    const auto& p = golden.find("p")->items();
    REQUIRE(steps.size() == p.size());
    for (std::size_t n = 0; n < p.size(); ++n)
      CHECK(std::abs(steps[n].find("p")->number() - p[n].number()) <= limit);
  }
}

TEST_CASE("LanguageModel: tokens one by one get the logits that they get all at once") {
  const auto want = tensor_file(models + "letters/golden/logits.npy");
  const auto ids = ids_of(*json_file(models + "letters/golden/greedy.json").find("ids"));
  LanguageModel<double> model(letters(), positions());
  CHECK(model.vocabulary_size() == 7);
  for (std::size_t l = 0; l < ids.size(); ++l) {
    const Array logits = as_array(model.extend({&ids[l], 1}).logits);
    INFO("token " << l);
    CHECK(departure(logits,
                    tensor_file(models + "letters/golden/logits.npy[" + std::to_string(l) + ":" +
                                std::to_string(l + 1) + "]"),
                    1e-12) == "");
  }
  CHECK(model.length() == ids.size());
}

TEST_CASE("LanguageModel: the hook sees every stage of every layer of what comes, in order") {
  LanguageModel<float> model(letters(), positions());
  const std::vector<std::size_t> ids = {2, 0, 1};
  std::vector<std::string> attn;
  model.extend(ids, [&](std::size_t layer, std::string_view stage, Tensor<float, 4>& value) {
    if (stage == "attn") attn.push_back(std::to_string(layer) + shape_text(value.shape()));
  });
  CHECK(attn == std::vector<std::string>{"0(1,2,3,3)", "1(1,2,3,3)"});
}

TEST_CASE("LanguageModel: a norm and a head that do not fit are all named at once") {
  LanguageModelInputs inputs = letters();
  inputs.final_norm_w = array_of({3}, {1, 1, 1}, DType::float32, "final_norm_w.npy");
  inputs.lm_head_w = array_of({2, 8}, std::vector<double>(16, 1), DType::float32, "lm_head_w.npy");
  inputs.embedding.where = "embedding.npy";
  try {
    const LanguageModel<float> model(inputs, {});
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.complaints().size() == 2);
    CHECK(text(error.complaints()[0]) ==
          "the gain of the final norm does not fit (final_norm_w.npy, (E)): expected (8), E as in "
          "embedding.npy (7,8), got (3)");
    CHECK(text(error.complaints()[1]) ==
          "the output head does not fit (lm_head_w.npy): expected (E,V) with V and E as in "
          "embedding.npy (7,8), got (2,8)");
  }
}

TEST_CASE(
    "most_probable: logits of ln 3 and 0 are three to one, of equal ones the first is taken") {
  const std::vector<double> logits = {0, std::log(3), 0 - INFINITY};
  const NextToken next = most_probable(std::span<const double>(logits));
  CHECK(next.id == 1);
  CHECK(next.logit == std::log(3));
  CHECK(std::abs(next.p - 0.75) <= 1e-15);
  const std::vector<float> equal = {1, 2, 2};
  CHECK(most_probable(std::span<const float>(equal)).id == 1);
}

TEST_CASE("most_probable: among NaN none is the greatest") {
  const std::vector<float> logits = {0, NAN, 1};
  CHECK_THROWS_WITH(most_probable(std::span<const float>(logits)),
                    "no logit is the greatest (logits of the next token): expected numbers, got 1 "
                    "NaN of 3");
}
