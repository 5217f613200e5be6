// The examples of the tutorials that qkv comes from: shapes, row sums, hidden weights and values.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/attention/stage_list.hpp"
#include "support/captured.hpp"
#include "support/golden.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

GoldenCase document(const std::string& name) {
  for (GoldenCase& golden : golden_cases("documents"))
    if (golden.name == name) return std::move(golden);
  throw std::out_of_range("no document case " + name);
}

std::vector<std::pair<std::string, Shape>> table_of_shapes(const GoldenCase& golden) {
  std::vector<std::pair<std::string, Shape>> table;
  const Sizes sizes = find_sizes(golden.inputs, golden.settings);
  for (const StageShape& stage : stage_shapes(golden.inputs, golden.settings, sizes))
    table.emplace_back(stage.id, stage.shape);
  return table;
}

/// Every stage as PyTorch has it, and what must hold for any weights: in [0,1], each row adding
/// to 1.
template <class T>
Captured<T> traced(const GoldenCase& golden) {
  auto run = captured<T>(golden.inputs, golden.settings);
  for (const GoldenStage& want : golden.stages) {
    INFO("stage " << want.id);
    CHECK(mismatch(run[want.id], want) == "");
  }
  const auto& attn = run["attn"];
  const double allowed =
      static_cast<double>(attn.size(3)) * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (std::size_t row = 0; row < attn.size() / attn.size(3); ++row) {
    double sum = 0;
    for (std::size_t j = 0; j < attn.size(3); ++j) {
      const T weight = attn.data()[row * attn.size(3) + j];
      CHECK((weight >= 0 && weight <= 1));
      sum += static_cast<double>(weight);
    }
    CHECK(std::abs(sum - 1) <= allowed);
  }
  return run;
}

using Table = std::vector<std::pair<std::string, Shape>>;

}  // namespace

TEMPLATE_TEST_CASE("documents: x (2,4,8), d_k 4, d_v 8", "", float, double) {
  const GoldenCase golden = document("batch");
  CHECK(table_of_shapes(golden) == Table{{"x", {2, 4, 8}},
                                         {"q", {2, 4, 4}},
                                         {"k", {2, 4, 4}},
                                         {"v", {2, 4, 8}},
                                         {"scores", {2, 4, 4}},
                                         {"scaled", {2, 4, 4}},
                                         {"attn", {2, 4, 4}},
                                         {"out", {2, 4, 8}}});
  traced<TestType>(golden);
}

TEMPLATE_TEST_CASE("documents: three biased linear layers stored (out,in)", "", float, double) {
  const GoldenCase golden = document("linear layers");
  CHECK(table_of_shapes(golden).back() == Table::value_type{"out", {2, 4, 8}});
  traced<TestType>(golden);
}

TEMPLATE_TEST_CASE(
    "documents: six tokens, d_in 3, d_k 2, d_v 4, no batch: (6,3) -> (6,2) -> (6,6) -> (6,4)", "",
    float, double) {
  const GoldenCase golden = document("sentence");
  CHECK(table_of_shapes(golden) == Table{{"x", {6, 3}},
                                         {"q", {6, 2}},
                                         {"k", {6, 2}},
                                         {"v", {6, 4}},
                                         {"scores", {6, 6}},
                                         {"scaled", {6, 6}},
                                         {"attn", {6, 6}},
                                         {"out", {6, 4}}});
  traced<TestType>(golden);
}

TEMPLATE_TEST_CASE(
    "documents: x (10,8) with a lower-triangular mask filled by -1e9 hides the future exactly", "",
    float, double) {
  const GoldenCase golden = document("enhanced");
  CHECK(table_of_shapes(golden) == Table{{"x", {10, 8}},
                                         {"q", {10, 4}},
                                         {"k", {10, 4}},
                                         {"v", {10, 8}},
                                         {"scores", {10, 10}},
                                         {"scaled", {10, 10}},
                                         {"masked", {10, 10}},
                                         {"attn", {10, 10}},
                                         {"out", {10, 8}}});
  const auto run = traced<TestType>(golden);
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t j = 0; j < 10; ++j) {
      CHECK(run["masked"](0, 0, i, j) == (j > i ? TestType(-1e9) : run["scaled"](0, 0, i, j)));
      if (j > i) CHECK(run["attn"](0, 0, i, j) == 0);
    }
  }
}

TEMPLATE_TEST_CASE("documents: the lower-triangular mask and --causal are the same attention", "",
                   float, double) {
  GoldenCase golden = document("enhanced");
  const auto masked = captured<TestType>(golden.inputs, golden.settings);
  golden.inputs.mask.reset();
  golden.settings.causal = true;
  const auto causal = captured<TestType>(golden.inputs, golden.settings);
  for (const char* stage : {"masked", "attn", "out"}) {
    const auto &a = masked[stage], &b = causal[stage];
    CHECK(std::equal(a.data(), a.data() + a.size(), b.data()));
  }
}

TEMPLATE_TEST_CASE("documents: 8 heads of 64 side by side are 512 wide again", "", float, double) {
  const GoldenCase golden = document("heads");
  CHECK(table_of_shapes(golden) == Table{{"x", {1, 3, 512}},
                                         {"q", {1, 8, 3, 64}},
                                         {"k", {1, 8, 3, 64}},
                                         {"v", {1, 8, 3, 64}},
                                         {"scores", {1, 8, 3, 3}},
                                         {"scaled", {1, 8, 3, 3}},
                                         {"attn", {1, 8, 3, 3}},
                                         {"heads", {1, 8, 3, 64}},
                                         {"concat", {1, 3, 512}},
                                         {"out", {1, 3, 512}}});
  traced<TestType>(golden);
}

TEMPLATE_TEST_CASE("documents: cross-attention takes q from x, k and v from another sequence", "",
                   float, double) {
  const GoldenCase golden = document("cross");
  CHECK(table_of_shapes(golden) == Table{{"x", {2, 4, 8}},
                                         {"context", {2, 7, 8}},
                                         {"q", {2, 4, 4}},
                                         {"k", {2, 7, 4}},
                                         {"v", {2, 7, 8}},
                                         {"scores", {2, 4, 7}},
                                         {"scaled", {2, 4, 7}},
                                         {"attn", {2, 4, 7}},
                                         {"out", {2, 4, 8}}});
  traced<TestType>(golden);
}
