// Two queries, three keys, width 2: numbers that can be checked by hand.
#include <catch2/catch.hpp>
#include <cmath>

#include "qkv/attention/softmax.hpp"
#include "support/arrays.hpp"
#include "support/captured.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// Q = [[1,0],[0,1]], K = [[1,0],[0,1],[1,1]], V = [[1,2],[3,4],[5,6]]
Inputs two_queries() {
  Inputs inputs;
  inputs.q = array_of({2, 2}, {1, 0, 0, 1});
  inputs.k = array_of({3, 2}, {1, 0, 0, 1, 1, 1});
  inputs.v = array_of({3, 2}, {1, 2, 3, 4, 5, 6});
  return inputs;
}

/// The expected numbers are written with seven decimals: half a unit of the last, and the
/// arithmetic's own few roundings.
template <class T>
std::string off(const Tensor<T, 4>& got, const std::vector<double>& want) {
  const double rounding = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
  const Array flat = reshaped(as_array(got), {got.size()});
  return departure(flat, array_of({want.size()}, want).array, 5.1e-8, rounding);
}

/// The first `count` elements: row 0 of a stage.
template <class T>
Tensor<T, 4> first_row(const Tensor<T, 4>& stage) {
  return Tensor<T, 4>::over({1, 1, 1, stage.size(3)}, const_cast<T*>(stage.data()), stage.owner());
}

template <class T>
Tensor<T, 4> row_of(const std::vector<double>& numbers) {
  return as_rank<T, 4>(array_of({1, 1, 1, numbers.size()}, numbers).array);
}

}  // namespace

TEMPLATE_TEST_CASE("oracle: scores, scaled, weights and out without a mask", "", float, double) {
  const auto run = captured<TestType>(two_queries(), {});
  CHECK(off(run["scores"], {1, 0, 1, 0, 1, 1}) == "");
  CHECK(off(run["scaled"], {0.7071068, 0, 0.7071068, 0, 0.7071068, 0.7071068}) == "");
  CHECK(off(run["attn"], {0.4011121, 0.1977758, 0.4011121, 0.1977758, 0.4011121, 0.4011121}) == "");
  CHECK(off(run["out"], {3, 4, 3.4066726, 4.4066726}) == "");
}

TEMPLATE_TEST_CASE("oracle: the log-sum-exp of both rows is 1.6206211", "", float, double) {
  const auto run = captured<TestType>(two_queries(), {});
  const auto lse = log_sum_exp<TestType>(run["scaled"]);
  REQUIRE(lse.size() == 2);
  CHECK(off(lse.template reshaped<4>({1, 1, 1, 2}), {1.6206211, 1.6206211}) == "");
}

TEMPLATE_TEST_CASE("oracle: causal from the start, query 0 sees key 0 alone", "", float, double) {
  const auto run = captured<TestType>(two_queries(), {.causal = true});
  CHECK(off(run["attn"], {1, 0, 0, 0.3302385, 0.6697615, 0}) == "");
  CHECK(off(run["out"], {1, 2, 2.3395231, 3.3395231}) == "");
}

TEMPLATE_TEST_CASE("oracle: causal to the end, the last query sees every key", "", float, double) {
  const auto run =
      captured<TestType>(two_queries(), {.causal = true, .causal_align = CausalAlign::end});
  CHECK(off(run["attn"], {0.6697615, 0.3302385, 0, 0.1977758, 0.4011121, 0.4011121}) == "");
  CHECK(off(run["out"], {1.6604769, 2.6604769, 3.4066726, 4.4066726}) == "");
}

TEMPLATE_TEST_CASE("oracle: one mask 1,1,0 read three ways", "", float, double) {
  Inputs inputs = two_queries();
  Settings settings;
  SECTION("as keep") {
    inputs.mask = array_of({1, 3}, {1, 1, 0}, DType::boolean);
    CHECK(off(first_row(captured<TestType>(inputs, settings)["attn"]), {0.6697615, 0.3302385, 0}) ==
          "");
  }
  SECTION("as keep, in integers") {
    inputs.mask = array_of({1, 3}, {1, 1, 0}, DType::int64);
    CHECK(off(first_row(captured<TestType>(inputs, settings)["attn"]), {0.6697615, 0.3302385, 0}) ==
          "");
  }
  SECTION("as numbers to add") {
    inputs.mask = array_of({1, 3}, {1, 1, 0}, DType::float32);
    CHECK(off(first_row(captured<TestType>(inputs, settings)["attn"]),
              {0.5373605, 0.2649556, 0.1976839}) == "");
  }
  SECTION("inverted") {
    inputs.mask = array_of({1, 3}, {1, 1, 0}, DType::boolean);
    settings.mask_true = MaskTrue::hide;
    CHECK(off(first_row(captured<TestType>(inputs, settings)["attn"]), {0, 0, 1}) == "");
  }
}

TEMPLATE_TEST_CASE("oracle: a query that sees no key gives zeros, NaN or the mean of v", "", float,
                   double) {
  Inputs inputs = two_queries();
  inputs.mask = array_of({2, 3}, {0, 0, 0, 1, 1, 1}, DType::boolean);
  Settings settings;
  // Whatever the hidden scores were filled with.
  settings.fill = GENERATE(Fill{}, Fill{.kind = Fill::Kind::number, .number = -1e9},
                           Fill{.kind = Fill::Kind::lowest});
  SECTION("zero") {
    const auto run = captured<TestType>(inputs, settings);
    CHECK(off(run["attn"], {0, 0, 0, 0.1977758, 0.4011121, 0.4011121}) == "");
    CHECK(off(run["out"], {0, 0, 3.4066726, 4.4066726}) == "");
  }
  SECTION("uniform") {
    settings.empty_rows = EmptyRows::uniform;
    const auto run = captured<TestType>(inputs, settings);
    CHECK(off(first_row(run["attn"]), {1.0 / 3, 1.0 / 3, 1.0 / 3}) == "");
    CHECK(off(run["out"], {3, 4, 3.4066726, 4.4066726}) == "");
  }
  SECTION("nan") {
    settings.empty_rows = EmptyRows::nan;
    const auto run = captured<TestType>(inputs, settings);
    for (std::size_t j = 0; j < 3; ++j) CHECK(std::isnan(run["attn"](0, 0, 0, j)));
    for (std::size_t e = 0; e < 2; ++e) CHECK(std::isnan(run["out"](0, 0, 0, e)));
    CHECK(std::abs(run["out"](0, 0, 1, 0) - TestType(3.4066726)) < TestType(1e-6));
  }
}

TEMPLATE_TEST_CASE("oracle: softcap 1 bends the logits", "", float, double) {
  const auto run = captured<TestType>(two_queries(), {.softcap = 1.0});
  CHECK(off(first_row(run["capped"]), {0.6088594, 0, 0.6088594}) == "");
  CHECK(off(first_row(run["attn"]), {0.3930862, 0.2138275, 0.3930862}) == "");
}

TEMPLATE_TEST_CASE("oracle: softcap comes before the mask, else a hidden key leaks", "", float,
                   double) {
  Inputs inputs = two_queries();
  inputs.mask = array_of({3}, {1, 1, 0}, DType::boolean);
  const auto run = captured<TestType>(inputs, {.softcap = 1.0});
  CHECK(off(first_row(run["attn"]), {0.6476806, 0.3523194, 0}) == "");
  CHECK(first_row(run["attn"])(0, 0, 0, 2) == 0);
  // The other order caps -Inf to -1, and this is what the weights would then be.
  const auto leaking = softmax<TestType>(row_of<TestType>({0.6088594, 0, -1}), EmptyRows::zero);
  CHECK(off(leaking, {0.573366, 0.3118945, 0.1147396}) == "");
}

TEMPLATE_TEST_CASE("oracle: softmax over the queries is known by its row sums of 1.5", "", float,
                   double) {
  const auto run = captured<TestType>(two_queries(), {});
  const Array by_key = transposed(as_array(run["scaled"]), {0, 1, 3, 2});
  const auto wrong = softmax<TestType>(as_rank<TestType, 4>(by_key), EmptyRows::zero);
  for (std::size_t i = 0; i < 2; ++i) {
    TestType row_sum = 0;
    for (std::size_t j = 0; j < 3; ++j) row_sum += wrong(0, 0, j, i);
    CHECK(off(row_of<TestType>({static_cast<double>(row_sum)}), {1.5}) == "");
  }
  for (std::size_t j = 0; j < 3; ++j) {
    CHECK(off(row_of<TestType>({static_cast<double>(wrong(0, 0, j, 0) + wrong(0, 0, j, 1))}),
              {1}) == "");
  }
}

TEMPLATE_TEST_CASE("oracle: other scales give other weights", "", float, double) {
  const auto weights = [](const Settings& settings) {
    return first_row(captured<TestType>(two_queries(), settings)["attn"]);
  };
  CHECK(off(weights({.scale = 1.0}), {0.4223188, 0.1553624, 0.4223188}) == "");
  CHECK(off(weights({.scale = 0.5}), {0.3836517, 0.2326965, 0.3836517}) == "");
  CHECK(off(weights({.temperature = 2.0}), {0.3836517, 0.2326965, 0.3836517}) == "");
}

TEMPLATE_TEST_CASE("oracle: rotation of 1,2,3,4 at position 1, base 10000", "", float, double) {
  Inputs inputs;
  inputs.q = array_of({1, 4}, {1, 2, 3, 4});
  inputs.k = array_of({1, 4}, {1, 2, 3, 4});
  inputs.v = array_of({1, 1}, {1});
  Settings settings{.rope_base = 10000.0, .first_position = 1};
  SECTION("halves") {
    const auto run = captured<TestType>(inputs, settings);
    CHECK(off(run["q_rope"], {-1.9841106, 1.9599007, 2.4623779, 4.0197997}) == "");
    CHECK(off(run["k_rope"], {-1.9841106, 1.9599007, 2.4623779, 4.0197997}) == "");
  }
  SECTION("interleaved") {
    settings.rope_style = RopeStyle::interleaved;
    const auto run = captured<TestType>(inputs, settings);
    CHECK(off(run["q_rope"], {-1.1426397, 1.9220756, 2.9598507, 4.0297995}) == "");
  }
  SECTION("equal turns of query and key leave the scores as they were: 30") {
    CHECK(off(captured<TestType>(inputs, settings)["scores"], {30}) == "");
  }
}

TEMPLATE_TEST_CASE("oracle: a sink of 0 takes its share of row 0 and stands for no value", "",
                   float, double) {
  Inputs inputs = two_queries();
  inputs.sinks = array_of({1}, {0});
  const auto run = captured<TestType>(inputs, {});
  CHECK(off(first_row(run["attn"]), {0.3348808, 0.1651192, 0.3348808}) == "");
  CHECK(off(first_row(run["out"]), {2.5046423, 3.3395231}) == "");
}

TEST_CASE(
    "oracle: with a sink a query that sees no key gives it all its weight, whatever the policy") {
  Inputs inputs = two_queries();
  inputs.sinks = array_of({1}, {0});
  inputs.mask = array_of({2, 3}, {0, 0, 0, 1, 1, 1}, DType::boolean);
  const auto run = captured<double>(inputs, {.empty_rows = EmptyRows::uniform});
  CHECK(off(first_row(run["attn"]), {0, 0, 0}) == "");
}
