// input.dtype
#include <catch2/catch.hpp>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

TEST_CASE("input.dtype: float types pass, and a mixture is said") {
  Case<float> made;
  made.inputs.x = NamedArray{.array = array({2, 2}, {1, 2, 3, 4}), .where = "x.npy"};
  CHECK(made.run("input.dtype").message == "float64");
  made.inputs.wq =
      NamedArray{.array = array_of<std::uint16_t>(DType::float16, {1, 1}, {0}), .where = "wq.npy"};
  const CheckResult result = made.run("input.dtype");
  CHECK(result.status == Status::pass);
  CHECK(result.message == "float64 and float16 mixed");
}

TEST_CASE("input.dtype: token ids in place of embeddings are warned of") {
  Case<float> made;
  made.inputs.x =
      NamedArray{.array = array_of<std::int64_t>(DType::int64, {1, 2}, {17, 4}), .where = "x.npy"};
  made.inputs.wq = NamedArray{.array = array({1, 1}, {1}), .where = "wq.npy"};
  const CheckResult result = made.run("input.dtype");
  CHECK(result.status == Status::warn);
  CHECK(*result.value == 1);
  CHECK(result.stage == "x.npy");
  CHECK(contains(result.message, "x.npy is int64, expected a float type"));
  CHECK(contains(result.hint, "token ids"));
}

TEST_CASE("input.dtype: masks and lengths may be what they like; alone they are a skip") {
  Case<float> made;
  made.inputs.mask =
      NamedArray{.array = array_of<std::uint8_t>(DType::boolean, {1}, {1}), .where = "mask.npy"};
  CHECK(made.run("input.dtype").status == Status::skip);
}
