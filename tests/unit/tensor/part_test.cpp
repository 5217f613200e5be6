// Parts of a tensor: NumPy's basic indexing. Expected values are NumPy's for
// arange(24).reshape(2,3,4).
#include "qkv/tensor/part.hpp"

#include <catch2/catch.hpp>

#include "qkv/base/error.hpp"

using namespace qkv;
using Catch::Matchers::Equals;

namespace {

Array counting(const Shape& shape) {
  auto memory = allocate_bytes(element_count(shape) * sizeof(double));
  auto* out = reinterpret_cast<double*>(memory.get());
  for (std::size_t n = 0; n < element_count(shape); ++n) out[n] = static_cast<double>(n);
  return row_major_array(DType::float64, shape, memory.get(), memory);
}

std::vector<double> values(const Array& array) {
  std::vector<double> all(element_count(array.shape));
  copy_elements(array, all.data());
  return all;
}

std::string error_of(const Array& array, const std::string& part) {
  try {
    part_of(array, part, "x.npy");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("part: integers, slices, steps, '...' and None pick what NumPy picks") {
  struct Case {
    const char* part;
    Shape shape;
    std::vector<double> values;
  };
  const Array array = counting({2, 3, 4});
  const Case cases[] = {
      {"[1]", {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
      {"[-1,-1,-1]", {}, {23}},
      {"[0,1,:2]", {2}, {4, 5}},
      {"[0,1,-2:]", {2}, {6, 7}},
      {"[1,:,0]", {3}, {12, 16, 20}},
      {"[...,3]", {2, 3}, {3, 7, 11, 15, 19, 23}},
      {"[...]", {2, 3, 4}, values(array)},
      {"[0,...,0]", {3}, {0, 4, 8}},
      {"[1,2,3,...]", {}, {23}},
      {"[0,0,::-1]", {4}, {3, 2, 1, 0}},
      {"[0,0,::2]", {2}, {0, 2}},
      {"[0,0,::-3]", {2}, {3, 0}},
      {"[0,0,3:0:-2]", {2}, {3, 1}},
      {"[0,0,-1:-9:-1]", {4}, {3, 2, 1, 0}},
      {"[0,0,2:100]", {2}, {2, 3}},
      {"[0,0,-100:1]", {1}, {0}},
      {"[0,0,3:1]", {0}, {}},
      {"[0,0,9:]", {0}, {}},
      {"[0,0,::99]", {1}, {0}},
      {"[0,0,::-99999999999999999999]", {1}, {3}},
      {"[0,0,1:99999999999999999999]", {3}, {1, 2, 3}},
      {"[None,0,None,0]", {1, 1, 4}, {0, 1, 2, 3}},
      {"[0,0,newaxis]", {1, 4}, {0, 1, 2, 3}},
      {"[ 0 , +1 , : ]", {4}, {4, 5, 6, 7}},
      {"[0,]", {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
      {"[::-1,0,0]", {2}, {12, 0}},
      {"[0,::2,1::2]", {2, 2}, {1, 3, 9, 11}},
  };
  for (const Case& each : cases) {
    CAPTURE(each.part);
    const Array part = part_of(array, each.part, "x.npy");
    CHECK(part.shape == each.shape);
    CHECK(values(part) == each.values);
  }
}

TEST_CASE("part: nothing is copied, and strided or swapped arrays are picked from as well") {
  const Array array = counting({2, 3});
  CHECK(part_of(array, "[1,2]", "x").data == array.data + 5 * sizeof(double));
  const Array turned = transposed(array, {1, 0});
  CHECK(values(part_of(turned, "[1]", "x")) == std::vector<double>{1, 4});
  CHECK(values(part_of(part_of(turned, "[::-1]", "x"), "[0,:]", "x")) == std::vector<double>{2, 5});
}

TEST_CASE("part: arrays without elements and of rank 0 can be indexed as far as they go") {
  const Array empty = counting({0, 4});
  CHECK(part_of(empty, "[:,3]", "x").shape == Shape{0});
  CHECK(part_of(empty, "[::-1]", "x").shape == Shape{0, 4});
  CHECK_THAT(error_of(empty, "[0]"), Equals("index out of bounds (x.npy[0], axis 0): expected no "
                                            "index, as the axis has size 0, got 0"));
  Array nowhere = empty;
  nowhere.data = nullptr;
  CHECK(part_of(nowhere, "[:,2]", "x").shape == Shape{0});
  const Array scalar = counting({});
  CHECK(values(part_of(scalar, "[...]", "x")) == std::vector<double>{0});
  CHECK(part_of(scalar, "[None]", "x").shape == Shape{1});
  CHECK_THAT(error_of(scalar, "[0]"),
             Equals("too many indices (x.npy[0]): expected at most 0 as the shape is (), got 1"));
}

TEST_CASE("part: what does not fit the shape is an error that names the axis and its size") {
  const Array array = counting({2, 3, 4});
  CHECK_THAT(error_of(array, "[5,0]"),
             Equals("index out of bounds (x.npy[5,0], axis 0): expected -2..1, got 5"));
  CHECK_THAT(error_of(array, "[None,0,...,-5]"),
             Equals("index out of bounds (x.npy[None,0,...,-5], axis 2): expected -4..3, got -5"));
  CHECK_THAT(
      error_of(array, "[0,0,0,0]"),
      Equals("too many indices (x.npy[0,0,0,0]): expected at most 3 as the shape is (2,3,4), "
             "got 4"));
  CHECK_THAT(error_of(array, "[...,...]"),
             Equals("more than one '...' (x.npy[...,...]): expected one, got 2"));
  CHECK_THAT(error_of(array, "[::0]"), Equals("a slice cannot have step 0 (x.npy[::0])"));
}

TEST_CASE("part: what is no basic index is an error that says what is") {
  const Array array = counting({2, 3, 4});
  const auto wanted = [](const std::string& part, const std::string& got) {
    return "not an index (x.npy" + part +
           "): expected integers, slices a:b:c, '...' or None, joined by commas, got " + got;
  };
  CHECK(error_of(array, "[]") == wanted("[]", "nothing"));
  CHECK(error_of(array, "[,]") == wanted("[,]", "nothing"));
  CHECK(error_of(array, "[0,,1]") == wanted("[0,,1]", "nothing"));
  CHECK(error_of(array, "[a]") == wanted("[a]", "'a'"));
  CHECK(error_of(array, "[1.5]") == wanted("[1.5]", "'1.5'"));
  CHECK(error_of(array, "[1:2:3:4]") == wanted("[1:2:3:4]", "'1:2:3:4'"));
  CHECK(error_of(array, "[--1]") == wanted("[--1]", "'--1'"));
  CHECK(error_of(array, "[[0]]") == wanted("[[0]]", "'[0]'"));
  CHECK(error_of(array, "[0") == wanted("[0", "'[0'"));
}

TEST_CASE("part: the last brackets of an argument are the part") {
  using Pair = std::pair<std::string, std::string>;
  CHECK(split_part("attn.npy[0,3,:8]") == Pair{"attn.npy", "[0,3,:8]"});
  CHECK(split_part("attn.npy") == Pair{"attn.npy", ""});
  CHECK(split_part("x[1].npy") == Pair{"x[1].npy", ""});
  CHECK(split_part("x[1].npy[2]") == Pair{"x[1].npy", "[2]"});
  CHECK(split_part("-[0]") == Pair{"-", "[0]"});
  CHECK(split_part("[0]") == Pair{"[0]", ""});
  CHECK(split_part("") == Pair{"", ""});
}
