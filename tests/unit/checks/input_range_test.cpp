// input.range
#include <catch2/catch.hpp>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

CheckResult range_of(const std::vector<double>& x) {
  Case<float> made;
  made.inputs.x = NamedArray{.array = array({1, x.size()}, x), .where = "x.npy"};
  return made.run("input.range");
}

}  // namespace

TEST_CASE("input.range: ordinary numbers pass with the greatest as the value") {
  const CheckResult result = range_of({1, -2.5, 0, 0.5, 1, 2});
  CHECK(result.status == Status::pass);
  CHECK(*result.value == 2.5);
  CHECK(*result.limit == 1e4);
}

TEST_CASE("input.range: constant, huge and vanishing inputs are warned of") {
  const CheckResult constant = range_of({3, 3, 3, 3, 3});
  CHECK(constant.status == Status::warn);
  CHECK(contains(constant.message, "x.npy is 3 throughout"));
  const CheckResult huge = range_of({1, 2, 3, 4, -70000});
  CHECK(huge.status == Status::warn);
  CHECK(*huge.value == 70000);
  CHECK(contains(huge.message, "x.npy reaches 7e+04"));
  CHECK(contains(huge.hint, "float16"));
  CHECK(contains(range_of({1e-9, 2e-9, 0, 1e-8, 2e-8}).message, "stays below 2e-08"));
}

TEST_CASE("input.range: bias of zeros is how a bias begins; tiny inputs say nothing") {
  Case<float> made;
  made.inputs.x = NamedArray{.array = array({1, 5}, {1, 2, 3, 4, 5}), .where = "x.npy"};
  made.inputs.bq = NamedArray{.array = array({5}, {0, 0, 0, 0, 0}), .where = "bq.npy"};
  CHECK(made.run("input.range").status == Status::pass);
  CHECK(range_of({1, 1}).status == Status::skip);
  CHECK(range_of({not_a_number, not_a_number, not_a_number, not_a_number, not_a_number}).status ==
        Status::skip);
}
