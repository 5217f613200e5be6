// Where the norm stands: the residual is x itself, whether the norm comes before or after.
#include <catch2/catch.hpp>
#include <vector>

#include "qkv/block/block.hpp"
#include "qkv/checks/block_check.hpp"
#include "support/arrays.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// A block whose attention hands each token on as it is (it sees itself only, all weights are the
/// identity), and whose feed-forward adds nothing.
struct Identity {
  Inputs inputs;
  BlockInputs block;
  Settings settings;

  explicit Identity(const NamedArray& x) {
    const NamedArray one = array_of({2, 2}, {1, 0, 0, 1}), none = array_of({2, 2}, {0, 0, 0, 0});
    inputs.x = x;
    inputs.wq = inputs.wk = inputs.wv = inputs.wo = one;
    block.ff_w1 = block.ff_w2 = none;
    settings.window = Window{0, 0};
    settings.weight_order = WeightOrder::in_out;
  }
};

struct Ran {
  BlockResult<double> result;
  std::vector<std::pair<std::string, Tensor<double, 4>>> stages;
  Array stage(const std::string& id) const {
    for (const auto& [name, value] : stages)
      if (name == id) return reshaped(as_array(value), {value.size(2), value.size(3)});
    return {};
  }
};

Ran ran(const Identity& identity, NormOrder order) {
  const auto problem = make_block_problem<double>(identity.inputs, identity.block,
                                                  identity.settings, {.order = order});
  Ran kept;
  kept.result = block<double>(problem, [&](std::string_view id, Tensor<double, 4>& value) {
    kept.stages.emplace_back(std::string(id), value.clone());
  });
  return kept;
}

// Six decimals, as reports give them.
constexpr double printed = 5.1e-7;

}  // namespace

TEST_CASE("block: pre-norm adds x itself, not the normalised x") {
  const NamedArray x = array_of({2, 2}, {1, 3, 2, 0});
  const Ran pre = ran(Identity(x), NormOrder::pre);
  const Array right = array_of({2, 2}, {0.000005, 3.999995, 2.999995, -0.999995}).array;
  CHECK(departure(pre.stage("res1"), right, printed) == "");
  CHECK(departure(pre.stage("block_out"), right, printed) == "");
  CHECK(departure(pre.stage("norm1"),
                  array_of({2, 2}, {-0.999995, 0.999995, 0.999995, -0.999995}).array,
                  printed) == "");
}

TEST_CASE("block: post-norm normalises x plus what attention made of x") {
  const Ran post = ran(Identity(array_of({2, 2}, {1, 3, 2, 0})), NormOrder::post);
  CHECK(departure(post.stage("norm1"),
                  array_of({2, 2}, {-0.999999, 0.999999, 0.999999, -0.999999}).array,
                  printed) == "");
}

TEST_CASE("block: the two orders differ on one token already") {
  const NamedArray x = array_of({1, 2}, {1, 3});
  CHECK(departure(ran(Identity(x), NormOrder::pre).stage("block_out"),
                  array_of({1, 2}, {0.000005, 3.999995}).array, printed) == "");
  CHECK(departure(ran(Identity(x), NormOrder::post).stage("norm1"),
                  array_of({1, 2}, {-0.999999, 0.999999}).array, printed) == "");
}

TEST_CASE("block.residual: the sum of the norm and its attention is not the residual") {
  const Ran pre = ran(Identity(array_of({2, 2}, {1, 3, 2, 0})), NormOrder::pre);
  BlockEvidence<double> evidence{
      .settings = {.order = NormOrder::pre}, .has_batch = false, .eps = 1e-5};
  const auto wrong =
      as_rank<double, 4>(array_of({1, 1, 2, 2}, {-1.99999, 1.99999, 1.99999, -1.99999}).array);
  for (const auto& [id, value] : pre.stages) {
    if (id == "x" || id == "out") evidence.stages.emplace_back(id, value);
    if (id == "res1") evidence.stages.emplace_back(id, wrong);
  }
  for (const CheckResult& check : run_block_checks(evidence)) {
    if (check.id != "block.residual") continue;
    CHECK(check.status == Status::fail);
    CHECK(check.stage == "res1");
    CHECK(check.at.size() == 2);
    CHECK(check.message.find("is not x + out") == 0);
  }
}
