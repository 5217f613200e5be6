// input.finite
#include <catch2/catch.hpp>

#include "cases.hpp"
#include "qkv/tensor/half.hpp"

using namespace qkv;
using namespace qkv::test;

TEMPLATE_TEST_CASE("input.finite: finite inputs pass, and -Inf in a mask is finite enough", "",
                   float, double) {
  Case<TestType> made;
  made.inputs.x = NamedArray{.array = array({2, 2}, {1, 2, 3, 4}), .where = "x.npy"};
  made.inputs.mask = NamedArray{.array = array({2}, {0, -infinity}), .where = "mask.npy"};
  const CheckResult result = made.run("input.finite");
  CHECK(result.status == Status::pass);
  CHECK(*result.value == 0);
  CHECK(contains(result.message, "2 inputs"));
}

TEST_CASE("input.finite: names each file with what it holds and the first index") {
  Case<float> made;
  made.inputs.x = NamedArray{.array = array({2, 2}, {1, 2, 3, 4}), .where = "x.npy"};
  made.inputs.wq =
      NamedArray{.array = array({2, 3}, {1, 2, 3, 4, not_a_number, -infinity}), .where = "wq.npy"};
  made.inputs.mask = NamedArray{.array = array({2}, {0, infinity}), .where = "mask.npy"};
  const CheckResult result = made.run("input.finite");
  CHECK(result.status == Status::fail);
  CHECK(*result.value == 3);
  CHECK(*result.limit == 0);
  CHECK(result.stage == "wq.npy");
  CHECK(result.at == Index{1, 1});
  CHECK(contains(result.message, "wq.npy (1 NaN and 1 Inf, first nan at [1,1])"));
  CHECK(contains(result.message, "mask.npy (1 Inf, first inf at [1])"));
}

TEST_CASE("input.finite: half precision and strided arrays are read as they are") {
  Case<float> made;
  // float16 bits of 1, 65504, Inf and NaN, in Fortran order: [[1, Inf], [65504, NaN]]
  auto half = array_of<std::uint16_t>(DType::float16, {2, 2}, {0x3c00, 0x7bff, 0x7c00, 0x7e00});
  half.strides = column_major_strides(half.shape, 2);
  made.inputs.v = NamedArray{.array = half, .where = "v.npy"};
  const CheckResult result = made.run("input.finite");
  CHECK(*result.value == 2);
  CHECK(result.at == Index{0, 1});
}

TEST_CASE("input.finite: a large array is looked at to its last element") {
  Case<float> made;
  std::vector<double> values(3 * 5000, 1.0);
  values.back() = not_a_number;
  made.inputs.k = NamedArray{.array = array({3, 5000}, values), .where = "k.npy"};
  CHECK(made.run("input.finite").at == Index{2, 4999});
  made.inputs.k->array = array({5000, 3}, values);
  CHECK(made.run("input.finite").at == Index{4999, 2});
  made.inputs.k->array = transposed(array({3, 5000}, values), {1, 0});
  CHECK(made.run("input.finite").at == Index{4999, 2});
  made.inputs.k->array = array({15000}, values);
  CHECK(made.run("input.finite").at == Index{14999});
  made.inputs.k->array = array({3, 50, 100}, values);
  CHECK(made.run("input.finite").at == Index{2, 49, 99});
}

TEST_CASE("input.finite: integers cannot be otherwise, so they are a skip") {
  Case<float> made;
  made.inputs.lengths =
      NamedArray{.array = array_of<std::int64_t>(DType::int64, {1}, {3}), .where = "--lengths"};
  CHECK(made.run("input.finite").status == Status::skip);
  CHECK(made.run_alone("input.finite").status == Status::skip);
}
