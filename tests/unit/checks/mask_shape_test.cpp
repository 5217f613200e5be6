// mask.shape
#include <catch2/catch.hpp>

#include "cases.hpp"

using namespace qkv;
using namespace qkv::test;

namespace {

/// A mask of the given shape whose elements differ along every axis.
CheckResult shape_of(std::array<std::size_t, 4> sizes, const Shape& shape, bool alike = false) {
  Case<float> made;
  made.size(sizes[0], sizes[1], sizes[1], sizes[2], sizes[3], 2, 2);
  std::vector<double> values;
  const std::size_t slice = element_count(shape) / shape[0];
  for (std::size_t n = 0; n < element_count(shape); ++n) {
    const std::size_t at = alike ? n % slice : n;
    values.push_back(static_cast<double>(at % 3 % 2));
  }
  made.inputs.mask = NamedArray{.array = array(shape, values), .where = "mask.npy"};
  return made.run("mask.shape");
}

}  // namespace

TEST_CASE("mask.shape: masks that fit in one way pass, with the axes they were read as") {
  const CheckResult full = shape_of({2, 3, 4, 5}, {2, 3, 4, 5});
  CHECK(full.status == Status::pass);
  CHECK(contains(full.message, "(2,3,4,5) read as (B,H,L,S)"));
  CHECK(contains(shape_of({2, 3, 4, 5}, {2, 1, 1, 5}).message, "read as (B,1,1,S)"));
  CHECK(contains(shape_of({2, 3, 4, 5}, {4, 5}).message, "read as (L,S)"));
  CHECK(shape_of({2, 3, 4, 5}, {3, 4, 5}).status == Status::pass);
  CHECK(contains(shape_of({2, 3, 4, 5}, {6, 4, 5}).message, "read as (B*H,L,S)"));
  CHECK(shape_of({1, 1, 4, 4}, {1, 4, 4}).status == Status::pass);
}

TEST_CASE("mask.shape: rank 3 where B = H may be per batch row or per head") {
  const CheckResult result = shape_of({2, 2, 4, 5}, {2, 4, 5});
  CHECK(result.status == Status::warn);
  CHECK(contains(result.message, "B = H = 2"));
  CHECK(contains(result.hint, "(B,1,L,S)"));
  // the same mask for both: it does not matter what the axis means
  CHECK(shape_of({2, 2, 4, 5}, {2, 4, 5}, true).status == Status::pass);
}

TEST_CASE("mask.shape: rank 2 where B = L may be meant as key padding") {
  const CheckResult result = shape_of({4, 1, 4, 5}, {4, 5});
  CHECK(result.status == Status::warn);
  CHECK(contains(result.hint, "--key-padding"));
  CHECK(shape_of({1, 1, 4, 5}, {4, 5}).status == Status::pass);
}

TEST_CASE("mask.shape: a mask (B,1,L,1) hides queries, not keys") {
  const CheckResult result = shape_of({2, 3, 4, 5}, {2, 1, 4, 1});
  CHECK(result.status == Status::warn);
  CHECK(contains(result.message, "key axis is 1"));
  CHECK(shape_of({2, 3, 4, 1}, {2, 1, 4, 1}).status == Status::pass);
}

TEST_CASE("mask.shape: no mask is a skip") {
  CHECK(small_case<float>().run("mask.shape").status == Status::skip);
}
