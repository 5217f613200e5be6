// Findings: vanishing, exploding and non-finite gradients name their stage; sound ones nothing.
#include "qkv/grad/findings.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/arrays.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// One head of two queries and two keys: q = k = the identity times `size`.
Inputs identity(double size, double value = 1) {
  Inputs inputs;
  inputs.q = array_of({2, 2}, {size, 0, 0, size});
  inputs.k = array_of({2, 2}, {size, 0, 0, size});
  inputs.v = array_of({2, 2}, {value, 2 * value, 3 * value, 5 * value});
  return inputs;
}

std::vector<GradFinding> found_in(const Inputs& inputs, const Settings& settings = {}) {
  const auto problem = make_problem<double>(inputs, settings);
  const auto dout = upstream<double>(std::nullopt, inputs, problem);
  return findings(backward(inputs, problem, dout), problem);
}

}  // namespace

TEST_CASE("findings: sound gradients have none") { CHECK(found_in(identity(1)).empty()); }

TEST_CASE("findings: scores 100 apart saturate the softmax, and the gradient vanishes at attn") {
  const auto found = found_in(identity(10), {.scale = 1});
  REQUIRE(found.size() == 1);
  CHECK(found[0].id == "gradient.vanishes");
  CHECK(found[0].stage == "attn");
  CHECK_FALSE(found[0].fails);
  CHECK(found[0].message.find("2 of 2 rows") != std::string::npos);
  CHECK(found[0].hint.find("not scaled") != std::string::npos);
}

TEST_CASE("findings: a query that sees one key has no choice, which is no saturation") {
  // Causal: the first query sees one key only; the second has weights of 1/2.
  CHECK(found_in(identity(0), {.causal = true}).empty());
  // A window of one key: no query has a choice.
  CHECK(found_in(identity(10), {.window = Window{0, 0}, .scale = 1}).empty());
}

TEST_CASE("findings: a sink that takes everything saturates too") {
  Inputs inputs = identity(1);
  inputs.sinks = array_of({1}, {50});
  const auto found = found_in(inputs);
  REQUIRE(found.size() == 1);
  CHECK(found[0].id == "gradient.vanishes");
}

TEST_CASE("findings: values of 1000 make the gradient explode at attn, the first on the way back") {
  const auto found = found_in(identity(1, 1000));
  REQUIRE(found.size() == 1);
  CHECK(found[0].id == "gradient.explodes");
  CHECK(found[0].stage == "attn");
  CHECK_FALSE(found[0].fails);
}

TEST_CASE("findings: a NaN in v makes attn the first gradient that is not finite, and fails") {
  const auto found = found_in(identity(1, std::nan("")));
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].id == "gradient.finite");
  CHECK(found[0].stage == "attn");
  CHECK(found[0].fails);
}
