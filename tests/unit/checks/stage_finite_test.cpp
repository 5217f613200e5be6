// stage.finite
#include <catch2/catch.hpp>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

template <class T>
void hold_all(Case<T>& made) {
  Evidence<T>& evidence = made.evidence;
  evidence.stages = {{"q", evidence.q},           {"k", evidence.k},
                     {"v", evidence.v},           {"scores", evidence.scores},
                     {"scaled", evidence.scaled}, {"masked", evidence.masked},
                     {"attn", evidence.attn},     {"heads", evidence.heads}};
}

}  // namespace

TEMPLATE_TEST_CASE("stage.finite: finite stages pass, -Inf in masked among them", "", float,
                   double) {
  auto right = rich_case<TestType>();
  hold_all(right);
  const CheckResult result = right.run("stage.finite");
  CHECK(result.status == Status::pass);
  CHECK(*result.value == 0);
  CHECK(result.message == "0 NaN or Inf out of place in 8 stages");
}

TEST_CASE("stage.finite: -Inf anywhere but in masked fails") {
  auto wrong = rich_case<double>();
  hold_all(wrong);
  wrong.evidence.scaled(0, 3, 1, 2) = -infinity;
  const CheckResult result = wrong.run("stage.finite");
  CHECK(result.status == Status::fail);
  CHECK(result.stage == "scaled");
  CHECK(result.at == Index{0, 3, 1, 2});
  CHECK(contains(result.message, "1 -Inf (1 of 280 elements)"));
}

TEST_CASE("stage.finite: the first stage is named, not those that follow from it") {
  auto wrong = rich_case<double>();
  wrong.evidence.scores(1, 0, 2, 3) = infinity;
  wrong.evidence.scaled(1, 0, 2, 3) = infinity;
  wrong.evidence.attn(1, 0, 2, 3) = not_a_number;
  wrong.evidence.eps = 0x1p-10;
  const CheckResult result = wrong.run("stage.finite");  // also without the list of stages
  CHECK(result.stage == "scores");
  CHECK(*result.value == 1);
  CHECK(result.at == Index{1, 0, 2, 3});
  CHECK(contains(result.message, "q and k are finite: the product is beyond the largest float16"));
}

TEST_CASE("stage.finite: NaN at keys that are kept comes from the fill") {
  auto wrong = weights_case<float>(1, 2, {not_a_number, not_a_number});
  wrong.evidence.scaled = tensor<float, 4>({1, 1, 1, 2}, {1, 2});
  wrong.evidence.masked = tensor<float, 4>({1, 1, 1, 2}, {not_a_number, -infinity});
  wrong.visibility.lengths = {1};
  const CheckResult result = wrong.run("stage.finite");
  CHECK(result.stage == "masked");
  CHECK(result.at == Index{0, 0});
  CHECK(contains(result.hint, "fill that overflowed"));
  wrong.visibility.added = tensor<float, 4>({1, 1, 1, 2}, {not_a_number, 0});
  CHECK(contains(wrong.run("stage.finite").message, "the mask that is added holds it"));
}

TEST_CASE("stage.finite: NaN weights from finite scores mean that exp overflowed") {
  auto wrong = weights_case<float>(1, 5, {0, 0, 0, not_a_number, 0});
  wrong.evidence.scaled = tensor<float, 4>({1, 1, 1, 5}, {-250, -424, -460, 378, -292});
  const CheckResult result = wrong.run("stage.finite");
  CHECK(result.stage == "attn");
  CHECK(result.at == Index{0, 3});
  CHECK(contains(result.hint, "subtract the row maximum"));
}

TEST_CASE("stage.finite: NaN in an empty row fails or is as asked, by the policy") {
  auto made = weights_case<float>(2, 2, {1, 0, not_a_number, not_a_number});
  made.visibility.hidden_by_mask = Tensor<std::uint8_t, 4>::make({1, 1, 2, 2});
  made.visibility.hidden_by_mask(0, 0, 1, 0) = made.visibility.hidden_by_mask(0, 0, 1, 1) = 1;
  const CheckResult zero = made.run("stage.finite");
  CHECK(zero.status == Status::fail);
  CHECK(contains(zero.message, "this query sees no key"));

  made.evidence.settings.empty_rows = EmptyRows::nan;
  made.evidence.heads =
      tensor<float, 4>({1, 1, 2, 3}, {1, 2, 3, not_a_number, not_a_number, not_a_number});
  const CheckResult meant = made.run("stage.finite");
  CHECK(meant.status == Status::pass);
  CHECK(contains(meant.message, "; 5 NaN in rows that see no key"));
  made.evidence.heads(0, 0, 0, 1) = static_cast<float>(not_a_number);
  const CheckResult other = made.run("stage.finite");
  CHECK(other.status == Status::fail);
  CHECK(*other.value == 1);
  CHECK(other.at == Index{0, 1});
}

TEST_CASE("stage.finite: NaN of an empty row goes on into concat and out") {
  auto made = weights_case<float>(2, 2, {1, 0, not_a_number, not_a_number});
  made.evidence.sizes.has_wo = true;
  made.visibility.hidden_by_mask = Tensor<std::uint8_t, 4>::make({1, 1, 2, 1});
  made.visibility.hidden_by_mask(0, 0, 1, 0) = 1;
  made.evidence.settings.empty_rows = EmptyRows::nan;
  made.evidence.stages = {{"out", tensor<float, 4>({1, 1, 2, 1}, {0.5, not_a_number})}};
  CHECK(made.run("stage.finite").status == Status::pass);
}

TEST_CASE("stage.finite: NaN in a value behind the mask is said to reach the output") {
  auto wrong = rich_case<double>();
  wrong.evidence.v(1, 0, 6, 2) = not_a_number;  // key 6 of batch row 1 is padding
  const CheckResult result = wrong.run("stage.finite");
  CHECK(result.status == Status::fail);
  CHECK(result.stage == "v");
  CHECK(result.at == Index{1, 0, 6, 2});
  CHECK(contains(result.message, "only at keys that are hidden from every query"));
  CHECK(contains(result.hint, "0*NaN is NaN"));
  wrong.evidence.v(1, 0, 5, 2) = not_a_number;
  CHECK_FALSE(contains(wrong.run("stage.finite").message, "hidden from every query"));
}

TEST_CASE("stage.finite: q, k, v out of a projection are told from given ones") {
  auto wrong = small_case<float>();
  wrong.evidence.q(0, 0, 1, 2) = static_cast<float>(infinity);
  CHECK(contains(wrong.run("stage.finite").message, "the input holds it"));
  wrong.evidence.sizes.projects = true;
  const CheckResult result = wrong.run("stage.finite");
  CHECK(contains(result.message, "x is finite: the weight or bias holds it"));
  CHECK(result.at == Index{1, 2});
}

TEST_CASE("stage.finite: an index has the axes of the user's tensor") {
  Case<float> made;
  made.size(2, 2, 2, 2, 2, 1, 1);
  auto side_by_side = Tensor<float, 4>::make({2, 1, 2, 2});
  side_by_side(1, 0, 0, 1) = static_cast<float>(not_a_number);
  made.evidence.stages = {{"concat", side_by_side}};
  CHECK(made.run("stage.finite").at == Index{1, 0, 1});
  // out of rank-4 q, k, v keeps all four axes
  auto by_head = Tensor<float, 4>::make({2, 2, 2, 1});
  by_head(1, 1, 0, 0) = static_cast<float>(not_a_number);
  made.evidence.sizes.rank_four = true;
  made.evidence.stages = {{"out", by_head}};
  CHECK(made.run("stage.finite").at == Index{1, 1, 0, 0});
}
