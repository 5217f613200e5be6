// mask.empty_rows
#include <catch2/catch.hpp>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

TEMPLATE_TEST_CASE("mask.empty_rows: passes where every query sees a key", "", float, double) {
  const CheckResult result = rich_case<TestType>().run("mask.empty_rows");
  CHECK(result.status == Status::pass);
  CHECK(*result.value == 0);
}

TEST_CASE("mask.empty_rows: causal and keys 0,1,1 leave query 0 without a key") {
  Case<float> made;
  made.size(1, 1, 1, 3, 3, 2, 3);
  made.visibility.causal = true;
  made.visibility.padded = Tensor<std::uint8_t, 2>::make({1, 3});
  made.visibility.padded(0, 0) = 1;
  const CheckResult result = made.run("mask.empty_rows");
  CHECK(result.status == Status::warn);
  CHECK(*result.value == 1);
  CHECK(result.at == Index{0});
  CHECK(contains(result.message, "row [0] sees no key (1 of 3 rows)"));
  CHECK(contains(result.message, "0 (--empty-rows)"));
}

TEST_CASE("mask.empty_rows: five queries on two keys, aligned at the end, empty rows 0 to 2") {
  Case<float> made;
  made.size(2, 1, 1, 5, 2, 2, 2);
  made.visibility.causal = true;
  made.visibility.offset = {-3, -3};
  made.evidence.settings.empty_rows = EmptyRows::uniform;
  const CheckResult result = made.run("mask.empty_rows");
  CHECK(*result.value == 6);
  CHECK(contains(result.message, "rows [0,0], [0,1], [0,2], [1,0] and 2 more see no key"));
  CHECK(contains(result.message, "1/S each"));
}

TEST_CASE("mask.empty_rows: is read from masked where no mask is known") {
  auto made = small_case<float>();
  made.evidence.masked =
      tensor<float, 4>({1, 1, 2, 3}, {1, 2, -infinity, -infinity, -infinity, -infinity});
  const CheckResult result = made.run_alone("mask.empty_rows");
  CHECK(result.status == Status::warn);
  CHECK(result.stage == "masked");
  CHECK(result.at == Index{1});
}

TEST_CASE("mask.empty_rows: nothing hidden, or nothing known, is a skip") {
  CHECK(small_case<float>().run("mask.empty_rows").status == Status::skip);
  CHECK(small_case<float>().run_alone("mask.empty_rows").status == Status::skip);
}
