// The pipeline against PyTorch in float64: 400 configurations over all options, every stage of
// each.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/attention/stage_list.hpp"
#include "support/captured.hpp"
#include "support/golden.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

std::vector<std::string> ids_of(const std::vector<GoldenStage>& stages) {
  std::vector<std::string> ids;
  for (const GoldenStage& stage : stages) ids.push_back(stage.id);
  return ids;
}

/// What each element may be off by is derived beside its value in golden/reference.py: n roundings
/// for a sum of n products, carried through every later step, in epsilons of T.
template <class T>
void hold_to(const GoldenCase& golden) {
  const auto kept = captured<T>(golden.inputs, golden.settings);
  CHECK(kept.ids() == ids_of(golden.stages));
  for (const GoldenStage& want : golden.stages) {
    for (const auto& [id, value] : kept.stages) {
      if (id != want.id) continue;
      INFO("stage " << id);
      CHECK(mismatch(value, want) == "");
    }
  }
  CHECK(mismatch(kept.result.present_k, golden.present.at(0)) == "");
  CHECK(mismatch(kept.result.present_v, golden.present.at(1)) == "");
}

}  // namespace

TEST_CASE("pipeline: every stage of 400 configurations is PyTorch's, in double") {
  const auto cases = golden_cases("grid");
  REQUIRE(cases.size() == 400);
  for (const GoldenCase& golden : cases) {
    INFO("case " << golden.name);
    CHECK_NOTHROW(hold_to<double>(golden));
  }
}

TEST_CASE("pipeline: every stage of 400 configurations is PyTorch's, in float") {
  for (const GoldenCase& golden : golden_cases("grid")) {
    INFO("case " << golden.name);
    CHECK_NOTHROW(hold_to<float>(golden));
  }
}

TEST_CASE("pipeline: sinks, ALiBi and normalised q and k are PyTorch's, in double and float") {
  const auto cases = golden_cases("extras");
  REQUIRE(cases.size() == 120);
  for (const GoldenCase& golden : cases) {
    INFO("case " << golden.name);
    CHECK_NOTHROW(hold_to<double>(golden));
    CHECK_NOTHROW(hold_to<float>(golden));
  }
}

TEST_CASE("pipeline: out is the last stage, and without a hook the same bits") {
  for (const GoldenCase& golden : golden_cases("grid")) {
    INFO("case " << golden.name);
    const auto problem = make_problem<float>(golden.inputs, golden.settings);
    const auto kept = captured<float>(golden.inputs, golden.settings);
    const auto alone = attend<float>(problem);
    const auto same_bits = [](const Tensor<float, 4>& a, const Tensor<float, 4>& b) {
      return a.shape() == b.shape() &&
             std::equal(a.data(), a.data() + a.size(), b.data(), [](float x, float y) {
               return x == y || (std::isnan(x) && std::isnan(y));
             });
    };
    CHECK(same_bits(alone.out, kept.result.out));
    CHECK(same_bits(alone.present_k, kept.result.present_k));
    CHECK(same_bits(alone.present_v, kept.result.present_v));
    if (golden.settings.layout == Layout::bhld) CHECK(same_bits(kept.result.out, kept["out"]));
  }
}

TEST_CASE("stage list: the shapes that it foretells from headers are those of PyTorch's stages") {
  for (const GoldenCase& golden : golden_cases("grid")) {
    INFO("case " << golden.name);
    const auto ids = ids_of(golden.stages);
    const Sizes sizes = find_sizes(golden.inputs, golden.settings);
    const auto foretold = stage_shapes(golden.inputs, golden.settings, sizes);
    REQUIRE(foretold.size() == golden.stages.size());
    for (std::size_t n = 0; n < foretold.size(); ++n) {
      INFO("stage " << ids[n]);
      CHECK(foretold[n].id == ids[n]);
      CHECK(foretold[n].shape == golden.stages[n].shown);
      CHECK(foretold[n].dims.size() == foretold[n].shape.size());
    }
  }
}
