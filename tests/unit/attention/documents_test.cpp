// The examples of the tutorials that qkv comes from: shapes, row sums, hidden weights and values.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/attention/stage_list.hpp"
#include "qkv/io/write.hpp"
#include "support/arrays.hpp"
#include "support/captured.hpp"
#include "support/golden.hpp"
#include "support/program.hpp"

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

TEMPLATE_TEST_CASE("documents: the packed weights of torch.nn.MultiheadAttention, (3E,E) by rows",
                   "", float, double) {
  const GoldenCase golden = document("packed");
  CHECK(table_of_shapes(golden) == Table{{"x", {2, 5, 8}},
                                         {"q", {2, 2, 5, 4}},
                                         {"k", {2, 2, 5, 4}},
                                         {"v", {2, 2, 5, 4}},
                                         {"scores", {2, 2, 5, 5}},
                                         {"scaled", {2, 2, 5, 5}},
                                         {"attn", {2, 2, 5, 5}},
                                         {"heads", {2, 2, 5, 4}},
                                         {"concat", {2, 5, 8}},
                                         {"out", {2, 5, 8}}});
  traced<TestType>(golden);
}

TEMPLATE_TEST_CASE("documents: a greater temperature is flatter, a smaller one sharper", "", float,
                   double) {
  const auto warm = traced<TestType>(document("warm")),
             usual = traced<TestType>(document("sentence")),
             cool = traced<TestType>(document("cool"));
  // sqrt(2) of the usual sqrt(d_k) lies between 0.5 and 4; the weights are from one x.
  const auto greatest = [](const auto& run, std::size_t i) {
    const auto row = run["attn"].row(0, 0, i);
    return *std::max_element(row.begin(), row.end());
  };
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(greatest(warm, i) < greatest(usual, i));
    CHECK(greatest(usual, i) < greatest(cool, i));
  }
}

TEST_CASE("documents: the enhanced module: Xavier weights, dropout 0.1, fill -1e9, length 10") {
  const Folder folder;
  REQUIRE(run_program({"init", folder / "demo", "--batch", "1", "--seq", "10", "--d-model", "8",
                       "--d-k", "4", "--d-v", "8", "--init", "xavier"})
              .status == 0);
  std::vector<double> lower;
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 10; ++j) lower.push_back(j <= i ? 1 : 0);
  }
  write_npy(folder / "mask.npy", array_of({10, 10}, lower, DType::int64).array);
  REQUIRE(run_program({"trace", folder / "demo", "--mask", folder / "mask.npy", "--fill", "-1e9",
                       "--dropout", "0.1", "--compute", "f64", "--dump", folder / "dump"})
              .status == 0);
  const auto at = [&](const std::string& name) {
    return as_rank<double, 2>(tensor_file(folder / name + "[0]"));
  };
  const auto q = at("dump/q.npy"), k = at("dump/k.npy"), v = at("dump/v.npy");
  const auto attn = at("dump/attn.npy"), dropped = at("dump/dropped.npy"), out = at("dump/out.npy");
  std::size_t zeros = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    // softmax(q·kᵀ/sqrt(4)) over the keys up to the query's own, by its definition.
    std::vector<double> weights(10, 0);
    double sum = 0;
    for (std::size_t j = 0; j <= i; ++j) {
      double score = 0;
      for (std::size_t d = 0; d < 4; ++d) score += q(i, d) * k(j, d);
      sum += weights[j] = std::exp(score / 2);
    }
    for (std::size_t j = 0; j < 10; ++j) {
      CHECK(std::abs(attn(i, j) - weights[j] / sum) <= 1e-14);
      // Kept weights are divided by 1 - p.
      if (dropped(i, j) != 0) CHECK(std::abs(dropped(i, j) - attn(i, j) / 0.9) <= 1e-15);
      if (j <= i && dropped(i, j) == 0) ++zeros;
    }
    for (std::size_t e = 0; e < 8; ++e) {
      double want = 0;
      for (std::size_t j = 0; j < 10; ++j) want += dropped(i, j) * v(j, e);
      CHECK(std::abs(out(i, e) - want) <= 1e-14);
    }
  }
  // 55 weights, a tenth dropped: within four deviations of 2.2 of 5.5.
  CHECK(zeros >= 1);
  CHECK(zeros <= 14);
}
