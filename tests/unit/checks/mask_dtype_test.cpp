// mask.dtype
#include <catch2/catch.hpp>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

TEST_CASE("mask.dtype: a float triangle of 0 and 1 fails, it would be added") {
  auto made = small_case<float>();
  made.inputs.mask =
      NamedArray{.array = array({3, 3}, {1, 0, 0, 1, 1, 0, 1, 1, 1}), .where = "mask.npy"};
  const CheckResult alone = made.run("mask.dtype");
  // without a visibility that was read from it, the type decides
  made.evidence.visibility = nullptr;
  const CheckResult result = made.run_alone("mask.dtype");
  CHECK(result.status == Status::fail);
  CHECK(result.stage == "mask.npy");
  CHECK(result.at == Index{0, 0});
  CHECK(contains(result.message, "float64 mask of 0 and 1 only (6 ones)"));
  CHECK(contains(result.hint, "bool"));
  // read as a keep mask (a preset), it is what it should be
  CHECK(alone.status == Status::pass);
  made.visibility.added = tensor<float, 4>({1, 1, 1, 1}, {1});
  CHECK(made.run("mask.dtype").status == Status::fail);
}

TEST_CASE("mask.dtype: additive masks pass, also with NaN or -Inf among them") {
  auto made = small_case<float>();
  made.visibility.added = tensor<float, 4>({1, 1, 1, 1}, {0});
  const auto status = [&](const std::vector<double>& values) {
    made.inputs.mask = NamedArray{.array = array({values.size()}, values), .where = "mask.npy"};
    return made.run("mask.dtype").status;
  };
  CHECK(status({0, -infinity, 0}) == Status::pass);
  CHECK(status({0, 1, -1e9}) == Status::pass);
  CHECK(status({0, 1, 0.5}) == Status::pass);
  CHECK(status({0, 0, 0}) == Status::pass);
  CHECK(status({not_a_number, 1, 0}) == Status::pass);  // input.finite's business
  CHECK(status({1, 1, 1}) == Status::fail);
  CHECK(status({0, 1, 1}) == Status::fail);
}

TEST_CASE("mask.dtype: integers are 0 and 1, and a complement is recognised") {
  auto made = small_case<float>();
  made.visibility.hidden_by_mask = Tensor<std::uint8_t, 4>::make({1, 1, 1, 3});
  made.inputs.mask = NamedArray{.array = array_of<std::int64_t>(DType::int64, {3}, {-2, -1, -2}),
                                .where = "m.npy"};
  const CheckResult complement = made.run("mask.dtype");
  CHECK(complement.status == Status::fail);
  CHECK(*complement.value == 3);
  CHECK(*complement.limit == 0);
  CHECK(contains(complement.hint, "complement (~)"));

  made.inputs.mask->array = array_of<std::int64_t>(DType::int64, {3}, {0, 7, 1});
  const CheckResult seven = made.run("mask.dtype");
  CHECK(seven.status == Status::fail);
  CHECK(seven.at == Index{1});
  CHECK(contains(seven.message, "holds 7"));
  CHECK_FALSE(contains(seven.hint, "complement"));

  made.inputs.mask->array = array_of<std::int64_t>(DType::int64, {3}, {1, 1, 0});
  CHECK(made.run("mask.dtype").status == Status::pass);
}

TEST_CASE("mask.dtype: says what true means in a bool mask") {
  auto made = small_case<float>();
  made.visibility.hidden_by_mask = Tensor<std::uint8_t, 4>::make({1, 1, 1, 3});
  made.inputs.mask =
      NamedArray{.array = array_of<std::uint8_t>(DType::boolean, {3}, {1, 0, 1}), .where = "m.npy"};
  CHECK(contains(made.run("mask.dtype").message, "bool: true takes part"));
  made.evidence.settings.mask_true = MaskTrue::hide;
  const CheckResult result = made.run("mask.dtype");
  CHECK(result.status == Status::pass);
  CHECK(contains(result.message, "bool: true is hidden"));
}

TEST_CASE("mask.dtype: a bool mask that a preset adds to the scores fails") {
  auto made = small_case<float>();
  made.visibility.added = tensor<float, 4>({1, 1, 1, 3}, {1, 0, 1});
  made.inputs.mask =
      NamedArray{.array = array_of<std::uint8_t>(DType::boolean, {3}, {1, 0, 1}), .where = "m.npy"};
  CHECK(made.run("mask.dtype").status == Status::fail);
}

TEST_CASE("mask.dtype: no mask is a skip") {
  CHECK(small_case<float>().run("mask.dtype").status == Status::skip);
}
