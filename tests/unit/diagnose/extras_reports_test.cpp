// Published mistakes with linear biases and sinks, cut down to tiny inputs.
#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/diagnose/diagnose.hpp"
#include "support/arrays.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// Eight heads, two queries and two keys of zeros: the logits are the biases alone.
Inputs eight_heads() {
  Inputs inputs;
  inputs.q = array_of({8, 2, 1}, std::vector<double>(16, 0));
  inputs.q->array = reshaped(inputs.q->array, {1, 8, 2, 1});
  inputs.k = inputs.q;
  inputs.v = inputs.q;
  return inputs;
}

/// attn of queries 0 and 1 over keys 0 and 1 with these slopes.
NamedArray weights_with(const std::vector<double>& slopes) {
  std::vector<double> attn;
  for (const double slope : slopes) {
    const double far = 1 / (1 + std::exp(slope)), near = 1 - far;
    attn.insert(attn.end(), {near, far, far, near});
  }
  return array_of({1, 8, 2, 2}, attn);
}

}  // namespace

TEST_CASE("reports: slopes that begin at 1 count their exponent from 0 (R083)") {
  const Settings settings{.alibi = true};
  const Diagnosis wrong = diagnose(make_case(
      eight_heads(), settings,
      {{"attn", weights_with({1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125})}}));
  REQUIRE(!wrong.faults.empty());
  CHECK(wrong.faults.front().id == "alibi-slope");
  CHECK(wrong.faults.front().message.find("from 0") != std::string::npos);
  const Diagnosis right = diagnose(make_case(
      eight_heads(), settings,
      {{"attn",
        weights_with({0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625})}}));
  CHECK(right.faults.empty());
}

TEST_CASE("reports: rows below 1 by one logit are a sink, not a mask fault (R097)") {
  Inputs inputs;
  inputs.q = array_of({2, 4}, {1, 0, 2, 0, 0, 1, 0, -1});
  inputs.k = array_of({3, 4}, {1, 1, 0, 0, 0, 2, 1, 0, 1, 0, 1, 1});
  inputs.v = array_of({3, 2}, {1, 0, 0, 1, 2, 2});
  const auto attn = array_of({2, 3}, {0.15706, 0.258948, 0.426933, 0.248967, 0.410477, 0.09159});
  const auto judged = [&](const Inputs& with) {
    Case the_case = make_case(with, {}, {{"attn", attn}});
    the_case.eps = 1e-4;  // six decimals
    return diagnose(the_case);
  };
  for (const FoundFault& fault : judged(inputs).faults)
    CHECK(fault.id.find("mask") == std::string::npos);
  inputs.sinks = array_of({1}, {0.5});
  CHECK(judged(inputs).faults.empty());
}
