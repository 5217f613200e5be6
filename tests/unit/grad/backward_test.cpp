// Backward against torch.autograd in float64: the gradient of every stage, input and weight.
#include "qkv/grad/backward.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "qkv/attention/stage_list.hpp"
#include "support/golden.hpp"
#include "support/gradients.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// The bounds are those of make_grad.py: 1e-5 of the greatest element in float, as many epsilons in
/// double, and what rounding every step to float changes.
template <class T>
void hold_to(const GoldenCase& golden, std::size_t number) {
  const auto problem = make_problem<T>(golden.inputs, golden.settings);
  const auto dout = upstream<T>(golden_dout(golden, number), golden.inputs, problem);
  const auto gradients = backward<T>(golden.inputs, problem, dout).gradients;
  CHECK(gradients.size() == golden.stages.size());
  for (const GoldenStage& want : golden.stages) {
    INFO("gradient of " << want.id);
    const auto found = std::ranges::find(gradients, want.id, &Gradient<T>::of);
    REQUIRE(found != gradients.end());
    CHECK(found->shape == want.shown);
    CHECK(mismatch(rank_four(*found), want) == "");
  }
}

}  // namespace

TEST_CASE("backward: every gradient of 120 configurations is torch.autograd's, in double") {
  const auto cases = golden_cases("grad");
  REQUIRE(cases.size() == 120);
  for (std::size_t n = 0; n < cases.size(); ++n) {
    INFO("case " << cases[n].name);
    CHECK_NOTHROW(hold_to<double>(cases[n], n));
  }
}

TEST_CASE("backward: every gradient of 120 configurations is torch.autograd's, in float") {
  const auto cases = golden_cases("grad");
  for (std::size_t n = 0; n < cases.size(); ++n) {
    INFO("case " << cases[n].name);
    CHECK_NOTHROW(hold_to<float>(cases[n], n));
  }
}
